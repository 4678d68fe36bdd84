// Numbers of weights as f32, from the formats that files store them in.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fovea/tensor/stored_format.h"

namespace fovea {

// Writes the `count` numbers of whole blocks at `from` to `to`, as ggml rounds them: each product
// and each sum once. Uses the calling thread alone.
void unpack(StoredFormat format, const std::byte* from, int64_t count, float* to);

// Whether every scale of the blocks at `from` is a finite number; plain numbers are not looked at.
bool has_finite_scales(StoredFormat format, const std::byte* from, int64_t count);

}  // namespace fovea
