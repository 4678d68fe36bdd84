// Picture files to pixels: PNG, JPEG, WebP, PPM and PGM, told apart by their first bytes.
#pragma once

#include <filesystem>
#include <string_view>

#include "fovea/base/file.h"
#include "fovea/vision/orientation.h"
#include "fovea/vision/picture.h"

namespace fovea {

// Checked when the header is read, before pixels are allocated.
struct PictureLimits {
  int64_t most_pixels = 178'956'970;  // where Pillow calls a file a decompression bomb
  int64_t longest_side = 1'000'000;
};

// The picture as transformers' load_image gives it: upright by its EXIF orientation; RGB as
// Pillow's convert("RGB"), which drops transparency and takes the first frame. Unlike Pillow,
// 16-bit grey keeps its upper 8 bits (Pillow makes everything above 255 white).
struct DecodedPicture {
  Picture picture;
  Orientation orientation = Orientation::kUpright;  // the file's; already applied
};

// `source` names the picture in errors. Throws Error{kBadFile} on a truncated or corrupt file, or
// one above the limits, and Error{kUnsupported} on another format.
DecodedPicture decode_picture(Bytes bytes, std::string_view source,
                              const PictureLimits& limits = {});

// As above, from a file. Throws also as MappedFile::open does.
DecodedPicture read_picture(const std::filesystem::path& path, const PictureLimits& limits = {});

}  // namespace fovea
