#include "fovea/io/crc32.h"

#include <zlib.h>

namespace fovea {

uint32_t crc32_of(Bytes bytes) {
  return static_cast<uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace fovea
