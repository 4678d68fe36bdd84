// What decode.cc and the readers of single formats share; for this folder only.
#pragma once

#include <string>
#include <string_view>

#include "fovea/base/file.h"
#include "fovea/vision/decode.h"
#include "fovea/vision/label_mask.h"

namespace fovea {

// A file being read: its bytes, its name for errors, and what it may cost.
struct PictureSource {
  Bytes bytes;
  std::string name;
  PictureLimits limits;

  const uint8_t* data() const { return reinterpret_cast<const uint8_t*>(bytes.data()); }
  size_t size() const { return bytes.size(); }
};

// Each gives the stored pixels and the orientation that is to be applied to them.
DecodedPicture read_png(const PictureSource& source);
DecodedPicture read_jpeg(const PictureSource& source);
DecodedPicture read_webp(const PictureSource& source);
DecodedPicture read_pnm(const PictureSource& source);
// Grey levels or indices of a palette instead of colours. Throws Error{kBadFile} where there are
// none of 8 bits or fewer.
LabelMask read_png_labels(const PictureSource& source);

// Throws Error{kBadFile} unless a picture of this size may be allocated.
void check_picture_size(const PictureSource& source, int64_t width, int64_t height);
// Throws Error{kBadFile} naming the format and what its library said.
[[noreturn]] void fail_corrupt(const PictureSource& source, std::string_view format,
                               std::string_view reason);

}  // namespace fovea
