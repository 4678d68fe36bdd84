#include "fovea/vision/label_mask.h"

#include <array>
#include <new>

#include "fovea/base/error.h"
#include "fovea/vision/picture_format.h"
#include "fovea/vision/picture_reader.h"

namespace fovea {

std::vector<uint8_t> LabelMask::objects() const {
  std::array<bool, 256> seen{};
  for (const uint8_t label : labels) seen[label] = true;
  std::vector<uint8_t> found;
  for (size_t label = 1; label < seen.size(); ++label) {
    if (seen[label]) found.push_back(static_cast<uint8_t>(label));
  }
  return found;
}

LabelMask read_label_mask(const std::filesystem::path& path, const PictureLimits& limits) {
  const auto file = MappedFile::open(path);
  if (picture_format(file->bytes()) != PictureFormat::kPng) {
    fail(ErrorKind::kBadFile, "{}: is no PNG; masks of object numbers are read from PNG files",
         path.string());
  }
  try {
    return read_png_labels({.bytes = file->bytes(), .name = path.string(), .limits = limits});
  } catch (const std::bad_alloc&) {
    fail(ErrorKind::kOutOfMemory, "{}: does not fit into memory; make the mask smaller",
         path.string());
  }
}

}  // namespace fovea
