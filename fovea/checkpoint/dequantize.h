// The element types of GGUF files, and quantised ones turned into floats. A block of 32 weights
// shares a scale d (and an offset m); the layouts are those of ggml.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "fovea/base/file.h"
#include "fovea/tensor/dtype.h"

namespace fovea {

// One element type of ggml.
struct GgmlType {
  using Dequantize = void (*)(const std::byte* blocks, int64_t count, float* result);

  std::string_view name;
  int64_t block_elements = 1;
  size_t block_bytes = 0;           // 0: fovea does not read this type
  DType dtype = DType::kF32;        // type of the tensor that it becomes
  Dequantize dequantize = nullptr;  // null: the bytes are the elements already
};

// nullptr if ggml has no such number.
const GgmlType* find_ggml_type(uint32_t id);
// "F32, F16, ..., Q8_0": those that fovea reads, for messages.
std::string readable_ggml_types();

// Writes the floats of `blocks`, whole blocks of `type`, into `result`, which has room for exactly
// those. All cores work on it.
void dequantize(const GgmlType& type, Bytes blocks, std::span<float> result);

}  // namespace fovea
