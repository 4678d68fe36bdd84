// How files store the numbers of a weight: one by one, or in blocks that share scales. The layouts
// of blocks are those of ggml; kernels/unpack.cc has them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fovea/tensor/dtype.h"

namespace fovea {

enum class StoredFormat : uint8_t {
  kF32,
  kF16,
  kBF16,
  kQ4_0,
  kQ4_1,
  kQ5_0,
  kQ5_1,
  kQ8_0,
  kQ2K,
  kQ3K,
  kQ4K,
  kQ5K,
  kQ6K,
  kIQ4NL,
  kIQ4XS,
  kMXFP4
};
inline constexpr int kStoredFormats = 16;

struct StoredBlock {
  std::string_view name;  // as ggml has it: "Q4_K"
  int64_t elements;       // of one block
  int64_t bytes;
  // Where its scales lie, f16 numbers next to each other; 0 of them where there are none.
  int64_t scales_at;
  int64_t scales;
};
const StoredBlock& stored_block(StoredFormat format);

// The format of plain numbers. Throws Error{kInvalidArgument} for other types than F32, F16, BF16.
StoredFormat stored_format_of(DType dtype);

}  // namespace fovea
