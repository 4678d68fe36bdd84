// Numbers of weights as f32, from the formats that files store them in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fovea/tensor/stored_format.h"

namespace fovea {

// Writes the `count` numbers of whole blocks at `from` to `to`, as ggml rounds them: each product
// and each sum once. Uses the calling thread alone.
void unpack(StoredFormat format, const std::byte* from, int64_t count, float* to);

// A row of numbers that is multiplied with many rows of blocks. Scales are multiplied with sums of
// products, so nothing is unpacked.
class BlockDot {
 public:
  // `x` is as long as the rows and outlives the object; `format` is one of blocks.
  BlockDot(StoredFormat format, std::span<const float> x);
  // products[r] = x . the blocks at rows[r].
  void operator()(std::span<const std::byte* const> rows, float* products) const;

 private:
  StoredFormat format_;
  std::span<const float> x_;
  std::vector<float> sums_;  // of the x that meet one scale
};

// Whether every scale of the blocks at `from` is a finite number; plain numbers are not looked at.
bool has_finite_scales(StoredFormat format, const std::byte* from, int64_t count);

}  // namespace fovea
