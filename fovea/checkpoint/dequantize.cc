#include "fovea/checkpoint/dequantize.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "fovea/base/error.h"
#include "fovea/base/parallel.h"

namespace fovea {
namespace {

constexpr int64_t kBlock = 32;
constexpr int64_t kHalf = kBlock / 2;

float load_half(const std::byte* from) {
  F16 value;
  std::memcpy(&value, from, sizeof(value));
  return to_float(value);
}

int byte_at(const std::byte* from, int64_t index) {
  return std::to_integer<int>(from[index]);
}

// f16 d, 32 x int8 q: w = d * q.
void dequantize_q8_0(const std::byte* blocks, int64_t count, float* result) {
  for (int64_t block = 0; block < count; ++block, blocks += 34, result += kBlock) {
    const float d = load_half(blocks);
    const auto* q = reinterpret_cast<const int8_t*>(blocks + 2);
    for (int64_t i = 0; i < kBlock; ++i) result[i] = d * static_cast<float>(q[i]);
  }
}

// f16 d, 16 bytes of nibbles: w = d * (q - 8). Low nibbles are weights 0..15, high ones 16..31.
void dequantize_q4_0(const std::byte* blocks, int64_t count, float* result) {
  for (int64_t block = 0; block < count; ++block, blocks += 18, result += kBlock) {
    const float d = load_half(blocks);
    for (int64_t i = 0; i < kHalf; ++i) {
      const int q = byte_at(blocks + 2, i);
      result[i] = d * static_cast<float>((q & 15) - 8);
      result[i + kHalf] = d * static_cast<float>((q >> 4) - 8);
    }
  }
}

// f16 d, f16 m, 16 bytes of nibbles: w = d * q + m.
void dequantize_q4_1(const std::byte* blocks, int64_t count, float* result) {
  for (int64_t block = 0; block < count; ++block, blocks += 20, result += kBlock) {
    const float d = load_half(blocks);
    const float m = load_half(blocks + 2);
    for (int64_t i = 0; i < kHalf; ++i) {
      const int q = byte_at(blocks + 4, i);
      result[i] = d * static_cast<float>(q & 15) + m;
      result[i + kHalf] = d * static_cast<float>(q >> 4) + m;
    }
  }
}

uint32_t load_high_bits(const std::byte* from) {
  uint32_t bits;
  std::memcpy(&bits, from, sizeof(bits));
  return bits;
}

// As Q4_0 with a fifth bit: f16 d, 32 high bits, 16 bytes of nibbles: w = d * (q - 16).
void dequantize_q5_0(const std::byte* blocks, int64_t count, float* result) {
  for (int64_t block = 0; block < count; ++block, blocks += 22, result += kBlock) {
    const float d = load_half(blocks);
    const uint32_t high = load_high_bits(blocks + 2);
    for (int64_t i = 0; i < kHalf; ++i) {
      const int q = byte_at(blocks + 6, i);
      const int low_bit = static_cast<int>(high >> i & 1) << 4;
      const int high_bit = static_cast<int>(high >> (i + kHalf) & 1) << 4;
      result[i] = d * static_cast<float>(((q & 15) | low_bit) - 16);
      result[i + kHalf] = d * static_cast<float>(((q >> 4) | high_bit) - 16);
    }
  }
}

// As Q4_1 with a fifth bit: f16 d, f16 m, 32 high bits, 16 bytes of nibbles: w = d * q + m.
void dequantize_q5_1(const std::byte* blocks, int64_t count, float* result) {
  for (int64_t block = 0; block < count; ++block, blocks += 24, result += kBlock) {
    const float d = load_half(blocks);
    const float m = load_half(blocks + 2);
    const uint32_t high = load_high_bits(blocks + 4);
    for (int64_t i = 0; i < kHalf; ++i) {
      const int q = byte_at(blocks + 8, i);
      const int low_bit = static_cast<int>(high >> i & 1) << 4;
      const int high_bit = static_cast<int>(high >> (i + kHalf) & 1) << 4;
      result[i] = d * static_cast<float>((q & 15) | low_bit) + m;
      result[i + kHalf] = d * static_cast<float>((q >> 4) | high_bit) + m;
    }
  }
}

// Indexed by ggml's numbers; an empty name is a number that is not in use.
constexpr std::array<GgmlType, 40> kGgmlTypes{{
    {"F32", 1, 4, DType::kF32},
    {"F16", 1, 2, DType::kF16},
    {"Q4_0", kBlock, 18, DType::kF32, dequantize_q4_0},
    {"Q4_1", kBlock, 20, DType::kF32, dequantize_q4_1},
    {},
    {},
    {"Q5_0", kBlock, 22, DType::kF32, dequantize_q5_0},
    {"Q5_1", kBlock, 24, DType::kF32, dequantize_q5_1},
    {"Q8_0", kBlock, 34, DType::kF32, dequantize_q8_0},
    {"Q8_1"},
    {"Q2_K"},
    {"Q3_K"},
    {"Q4_K"},
    {"Q5_K"},
    {"Q6_K"},
    {"Q8_K"},
    {"IQ2_XXS"},
    {"IQ2_XS"},
    {"IQ3_XXS"},
    {"IQ1_S"},
    {"IQ4_NL"},
    {"IQ3_S"},
    {"IQ2_S"},
    {"IQ4_XS"},
    {"I8", 1, 1, DType::kI8},
    {"I16", 1, 2, DType::kI16},
    {"I32", 1, 4, DType::kI32},
    {"I64", 1, 8, DType::kI64},
    {"F64", 1, 8, DType::kF64},
    {"IQ1_M"},
    {"BF16", 1, 2, DType::kBF16},
    {},
    {},
    {},
    {"TQ1_0"},
    {"TQ2_0"},
    {},
    {},
    {},
    {"MXFP4"},
}};

}  // namespace

const GgmlType* find_ggml_type(uint32_t id) {
  return id < kGgmlTypes.size() && !kGgmlTypes[id].name.empty() ? &kGgmlTypes[id] : nullptr;
}

std::string readable_ggml_types() {
  std::string names;
  for (const GgmlType& type : kGgmlTypes) {
    if (type.block_bytes == 0) continue;
    if (!names.empty()) names += ", ";
    names += type.name;
  }
  return names;
}

void dequantize(const GgmlType& type, Bytes blocks, std::span<float> result) {
  constexpr int64_t kPiece = 4096;  // blocks that one thread takes at a time
  FOVEA_ASSERT(type.dequantize != nullptr && blocks.size() % type.block_bytes == 0);
  const auto count = static_cast<int64_t>(blocks.size() / type.block_bytes);
  FOVEA_ASSERT(static_cast<int64_t>(result.size()) == count * type.block_elements);
  parallel_for((count + kPiece - 1) / kPiece, [&](int64_t piece) {
    const int64_t first = piece * kPiece;
    type.dequantize(blocks.data() + first * static_cast<int64_t>(type.block_bytes),
                    std::min(kPiece, count - first), result.data() + first * type.block_elements);
  });
}

}  // namespace fovea
