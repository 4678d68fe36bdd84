// gzip, as HTTP packs bodies.
#pragma once

#include <string>

#include "fovea/base/file.h"

namespace fovea {

std::string gzipped(Bytes bytes);
// Throws Error{kBadFile} for bytes that are no gzip, and above `most` unpacked bytes.
std::string gunzipped(Bytes bytes, size_t most = size_t{64} << 20);

}  // namespace fovea
