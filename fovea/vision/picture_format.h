// Tells the format of a picture by its first bytes; the names of files may lie.
#pragma once

#include <string_view>

#include "fovea/base/file.h"

namespace fovea {

enum class PictureFormat { kPng, kJpeg, kWebp, kPnm, kOther };

PictureFormat picture_format(Bytes bytes);

// Whether the file's name ends like those of formats that we read: ".png", ".JPG". For lists of a
// folder's pictures.
bool has_readable_suffix(const std::filesystem::path& path);

// Throws Error{kUnsupported} that names the format of a picture we do not read, or Error{kBadFile}
// for what is no picture.
[[noreturn]] void refuse_picture(Bytes bytes, std::string_view source);

}  // namespace fovea
