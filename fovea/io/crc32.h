// The checksum of zip, gzip and PNG.
#pragma once

#include <cstdint>

#include "fovea/base/file.h"

namespace fovea {

// CRC-32 (polynomial 0xEDB88320) of all of `bytes`.
uint32_t crc32_of(Bytes bytes);

}  // namespace fovea
