#include "fovea/tensor/dtype.h"

#include <array>
#include <cmath>

namespace fovea {
namespace {

struct Entry {
  DType dtype;
  std::string_view name;
  size_t bytes;
};

constexpr std::array<Entry, 13> kEntries{{{DType::kBool, "BOOL", 1},
                                          {DType::kU8, "U8", 1},
                                          {DType::kI8, "I8", 1},
                                          {DType::kU16, "U16", 2},
                                          {DType::kI16, "I16", 2},
                                          {DType::kF16, "F16", 2},
                                          {DType::kBF16, "BF16", 2},
                                          {DType::kU32, "U32", 4},
                                          {DType::kI32, "I32", 4},
                                          {DType::kF32, "F32", 4},
                                          {DType::kU64, "U64", 8},
                                          {DType::kI64, "I64", 8},
                                          {DType::kF64, "F64", 8}}};

}  // namespace

size_t dtype_bytes(DType dtype) {
  return kEntries[static_cast<size_t>(dtype)].bytes;
}

std::string_view dtype_name(DType dtype) {
  return kEntries[static_cast<size_t>(dtype)].name;
}

std::optional<DType> find_dtype(std::string_view name) {
  for (const Entry& entry : kEntries) {
    if (entry.name == name) return entry.dtype;
  }
  return std::nullopt;
}

// Without a branch: halves of a softmax are subnormal now and then, which no processor foresees.
float to_float(F16 value) {
  const uint32_t sign = uint32_t{value.bits & 0x8000u} << 16;
  const uint32_t magnitude = value.bits & 0x7fffu;
  // Subnormals are steps of 2^-24, exact in f32. Infinities and NaNs keep an exponent of all ones.
  const float small = static_cast<float>(static_cast<int32_t>(magnitude)) * 0x1p-24F;
  const uint32_t moved = magnitude < 0x7c00 ? 127 - 15 : 255 - 31;
  const auto large = std::bit_cast<float>((magnitude + (moved << 10)) << 13);
  return std::bit_cast<float>(std::bit_cast<uint32_t>(magnitude < 0x400 ? small : large) | sign);
}

F16 to_f16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>((bits >> 16) & 0x8000);
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return {static_cast<uint16_t>(sign | 0x7e00)};   // NaN
  if (magnitude >= 0x477ff000) return {static_cast<uint16_t>(sign | 0x7c00)};  // rounds to infinity
  if (magnitude < 0x38800000) {  // below 2^-14: a subnormal half, in steps of 2^-24
    const float steps = std::nearbyint(std::ldexp(std::bit_cast<float>(magnitude), 24));
    return {static_cast<uint16_t>(sign | static_cast<uint16_t>(steps))};
  }
  const uint32_t rebased = magnitude - ((127 - 15) << 23);
  const uint32_t rounded = rebased + 0xfff + ((rebased >> 13) & 1);
  return {static_cast<uint16_t>(sign | (rounded >> 13))};
}

BF16 to_bf16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000) return {static_cast<uint16_t>((bits >> 16) | 0x40)};
  return {static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16)};
}

}  // namespace fovea
