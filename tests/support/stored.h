// Random weights in the formats that files store them in.
#pragma once

#include <cstring>
#include <random>
#include <vector>

#include "fovea/tensor/convert.h"
#include "fovea/tensor/stored_matrix.h"
#include "support/random.h"

namespace fovea::support {

// All bits random but for the scales, which are numbers around `scale`.
inline StoredMatrix random_stored(StoredFormat format, int64_t rows, int64_t cols, uint64_t seed,
                                  float scale = 0.01F) {
  const StoredBlock& block = stored_block(format);
  if (block.elements == 1) {
    const DType type = format == StoredFormat::kF32   ? DType::kF32
                       : format == StoredFormat::kF16 ? DType::kF16
                                                      : DType::kBF16;
    return convert(random_tensor({rows, cols}, seed), type);
  }
  const int64_t blocks = rows * cols / block.elements;
  Tensor bytes = Tensor::uninitialized({blocks * block.bytes}, DType::kU8);
  std::mt19937_64 random(seed);
  for (uint8_t& byte : bytes.mutable_values<uint8_t>()) byte = static_cast<uint8_t>(random() >> 40);
  for (int64_t i = 0; i < blocks; ++i) {
    if (format == StoredFormat::kMXFP4) {  // exponents of 2^-8 to 2^-5
      bytes.mutable_values<uint8_t>()[static_cast<size_t>(i * block.bytes)] =
          static_cast<uint8_t>(119 + random() % 4);
    }
    for (int64_t s = 0; s < block.scales; ++s) {
      const F16 half = to_f16(scale * (0.5F + static_cast<float>(random() % 1024) / 1024));
      std::memcpy(bytes.mutable_raw() + i * block.bytes + block.scales_at + 2 * s, &half,
                  sizeof(half));
    }
  }
  return {format, rows, cols, std::move(bytes)};
}

}  // namespace fovea::support
