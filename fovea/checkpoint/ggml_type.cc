#include "fovea/checkpoint/ggml_type.h"

#include <array>

namespace fovea {
namespace {

GgmlType plain(std::string_view name, DType dtype) {
  return {name, 1, static_cast<int64_t>(dtype_bytes(dtype)), dtype, std::nullopt};
}

GgmlType blocks(StoredFormat format) {
  const StoredBlock& block = stored_block(format);
  return {block.name, block.elements, block.bytes, DType::kF32, format};
}

// By ggml's numbers; an empty name is a number that is not in use, a name alone a type that fovea
// does not read.
const std::array<GgmlType, 42>& ggml_types() {
  static const std::array<GgmlType, 42> types{{
      plain("F32", DType::kF32),
      plain("F16", DType::kF16),
      blocks(StoredFormat::kQ4_0),
      blocks(StoredFormat::kQ4_1),
      {},
      {},
      blocks(StoredFormat::kQ5_0),
      blocks(StoredFormat::kQ5_1),
      blocks(StoredFormat::kQ8_0),
      {"Q8_1"},
      blocks(StoredFormat::kQ2K),
      blocks(StoredFormat::kQ3K),
      blocks(StoredFormat::kQ4K),
      blocks(StoredFormat::kQ5K),
      blocks(StoredFormat::kQ6K),
      {"Q8_K"},
      {"IQ2_XXS"},
      {"IQ2_XS"},
      {"IQ3_XXS"},
      {"IQ1_S"},
      blocks(StoredFormat::kIQ4NL),
      {"IQ3_S"},
      {"IQ2_S"},
      blocks(StoredFormat::kIQ4XS),
      plain("I8", DType::kI8),
      plain("I16", DType::kI16),
      plain("I32", DType::kI32),
      plain("I64", DType::kI64),
      plain("F64", DType::kF64),
      {"IQ1_M"},
      plain("BF16", DType::kBF16),
      {},
      {},
      {},
      {"TQ1_0"},
      {"TQ2_0"},
      {},
      {},
      {},
      blocks(StoredFormat::kMXFP4),
      {"NVFP4"},
      {"Q1_0"},
  }};
  return types;
}

}  // namespace

const GgmlType* find_ggml_type(uint32_t id) {
  const auto& types = ggml_types();
  return id < types.size() && !types[id].name.empty() ? &types[id] : nullptr;
}

std::string readable_ggml_types() {
  std::string names;
  for (const GgmlType& type : ggml_types()) {
    if (type.block_bytes == 0) continue;
    if (!names.empty()) names += ", ";
    names += type.name;
  }
  return names;
}

}  // namespace fovea
