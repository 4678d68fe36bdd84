#include "fovea/vision/decode.h"

#include <new>
#include <utility>

#include "fovea/base/error.h"
#include "fovea/vision/picture_format.h"
#include "fovea/vision/picture_reader.h"

namespace fovea {
namespace {

DecodedPicture read_stored(const PictureSource& source) {
  switch (picture_format(source.bytes)) {
    case PictureFormat::kPng:
      return read_png(source);
    case PictureFormat::kJpeg:
      return read_jpeg(source);
    case PictureFormat::kWebp:
      return read_webp(source);
    case PictureFormat::kPnm:
      return read_pnm(source);
    case PictureFormat::kOther:
      break;
  }
  refuse_picture(source.bytes, source.name);
}

}  // namespace

void check_picture_size(const PictureSource& source, int64_t width, int64_t height) {
  const PictureLimits& limits = source.limits;
  if (width < 1 || height < 1) {
    fail(ErrorKind::kBadFile, "{}: says it has {} x {} pixels; save it again", source.name, width,
         height);
  }
  if (width > limits.longest_side || height > limits.longest_side) {
    fail(ErrorKind::kBadFile, "{}: has {} x {} pixels but a side may have {} at most; crop it",
         source.name, width, height, limits.longest_side);
  }
  if (width * height > limits.most_pixels) {
    fail(ErrorKind::kBadFile, "{}: has {} x {} = {} pixels but {} are the most; make it smaller",
         source.name, width, height, width * height, limits.most_pixels);
  }
}

void fail_corrupt(const PictureSource& source, std::string_view format, std::string_view reason) {
  fail(ErrorKind::kBadFile, "{}: is a damaged or cut-off {} of {} bytes ({}); get the file again",
       source.name, format, source.size(), reason);
}

DecodedPicture decode_picture(Bytes bytes, std::string_view source, const PictureLimits& limits) {
  try {
    DecodedPicture decoded =
        read_stored({.bytes = bytes, .name = std::string(source), .limits = limits});
    decoded.picture = make_upright(std::move(decoded.picture), decoded.orientation);
    return decoded;
  } catch (const std::bad_alloc&) {
    fail(ErrorKind::kOutOfMemory, "{}: does not fit into memory; make the picture smaller", source);
  }
}

DecodedPicture read_picture(const std::filesystem::path& path, const PictureLimits& limits) {
  const auto file = MappedFile::open(path);
  return decode_picture(file->bytes(), path.string(), limits);
}

}  // namespace fovea
