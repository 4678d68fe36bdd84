// Element types, with the names and sizes that safetensors uses.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace fovea {

enum class DType { kBool, kU8, kI8, kU16, kI16, kF16, kBF16, kU32, kI32, kF32, kU64, kI64, kF64 };

// IEEE half and bfloat16, as they lie in memory.
struct F16 {
  uint16_t bits;
};
struct BF16 {
  uint16_t bits;
};

size_t dtype_bytes(DType dtype);
std::string_view dtype_name(DType dtype);  // "F32", "BF16", ...
std::optional<DType> find_dtype(std::string_view name);

float to_float(F16 value);
inline float to_float(BF16 value) {
  return std::bit_cast<float>(uint32_t{value.bits} << 16);
}
F16 to_f16(float value);    // round to nearest even
BF16 to_bf16(float value);  // round to nearest even

// The element type's DType; only the types above have one.
template <typename T>
inline constexpr DType kDTypeOf = DType::kF32;
template <>
inline constexpr DType kDTypeOf<bool> = DType::kBool;
template <>
inline constexpr DType kDTypeOf<uint8_t> = DType::kU8;
template <>
inline constexpr DType kDTypeOf<int8_t> = DType::kI8;
template <>
inline constexpr DType kDTypeOf<uint16_t> = DType::kU16;
template <>
inline constexpr DType kDTypeOf<int16_t> = DType::kI16;
template <>
inline constexpr DType kDTypeOf<F16> = DType::kF16;
template <>
inline constexpr DType kDTypeOf<BF16> = DType::kBF16;
template <>
inline constexpr DType kDTypeOf<uint32_t> = DType::kU32;
template <>
inline constexpr DType kDTypeOf<int32_t> = DType::kI32;
template <>
inline constexpr DType kDTypeOf<uint64_t> = DType::kU64;
template <>
inline constexpr DType kDTypeOf<int64_t> = DType::kI64;
template <>
inline constexpr DType kDTypeOf<double> = DType::kF64;

// Calls visitor(T{}) with the C++ type of `dtype`: run-time type to template, in one place.
template <typename Visitor>
decltype(auto) visit_dtype(DType dtype, Visitor&& visitor) {
  switch (dtype) {
    case DType::kBool:
      return visitor(bool{});
    case DType::kU8:
      return visitor(uint8_t{});
    case DType::kI8:
      return visitor(int8_t{});
    case DType::kU16:
      return visitor(uint16_t{});
    case DType::kI16:
      return visitor(int16_t{});
    case DType::kF16:
      return visitor(F16{});
    case DType::kBF16:
      return visitor(BF16{});
    case DType::kU32:
      return visitor(uint32_t{});
    case DType::kI32:
      return visitor(int32_t{});
    case DType::kU64:
      return visitor(uint64_t{});
    case DType::kI64:
      return visitor(int64_t{});
    case DType::kF64:
      return visitor(double{});
    case DType::kF32:
      break;
  }
  return visitor(float{});
}

}  // namespace fovea
