// The element types of GGUF files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "fovea/tensor/dtype.h"
#include "fovea/tensor/stored_format.h"

namespace fovea {

// One element type of ggml.
struct GgmlType {
  std::string_view name;
  int64_t block_elements = 1;
  int64_t block_bytes = 0;             // 0: fovea does not read this type
  DType dtype = DType::kF32;           // of the tensor that it becomes
  std::optional<StoredFormat> format;  // of blocks; none: the bytes are the elements already
};

// nullptr if ggml has no such number.
const GgmlType* find_ggml_type(uint32_t id);
// "F32, F16, ..., IQ4_XS": those that fovea reads, for messages.
std::string readable_ggml_types();

}  // namespace fovea
