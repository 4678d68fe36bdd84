// Which picture format a file has, by its first bytes: names of files may lie.
#pragma once

#include <string_view>

#include "fovea/base/file.h"

namespace fovea {

enum class PictureFormat { kPng, kJpeg, kWebp, kPnm, kOther };

PictureFormat picture_format(Bytes bytes);

// Whether a file is called as those of the formats that are read are, for lists of a folder's
// pictures: ".png", ".JPG".
bool has_readable_suffix(const std::filesystem::path& path);

// Throws Error{kUnsupported} that names the format of a picture we do not read, or Error{kBadFile}
// for what is no picture.
[[noreturn]] void refuse_picture(Bytes bytes, std::string_view source);

}  // namespace fovea
