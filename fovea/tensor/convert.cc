#include "fovea/tensor/convert.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

namespace fovea {
namespace {

template <typename T>
constexpr bool kIsHalf = std::is_same_v<T, F16> || std::is_same_v<T, BF16>;
template <typename T>
constexpr bool kIsFloating = kIsHalf<T> || std::is_floating_point_v<T>;

// Rounding to float and then to half is not rounding to half: the first step may make a tie.
// Rounding to odd keeps a trace of what was cut off, so that the second step decides rightly.
float round_to_odd(double value) {
  const auto nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value || std::isnan(value)) return nearest;
  auto bits = std::bit_cast<uint32_t>(nearest);
  if (std::abs(static_cast<double>(nearest)) > std::abs(value)) --bits;
  return std::bit_cast<float>(bits | 1);
}

// The same for the 64-bit integers that double cannot hold: their last 11 bits become one.
template <typename From>
double to_odd_double(From value) {
  if constexpr (std::is_integral_v<From> && sizeof(From) == 8) {
    const bool negative = value < 0;
    auto magnitude = static_cast<uint64_t>(value);
    if (negative) magnitude = ~magnitude + 1;
    constexpr uint64_t kLow = 0x7ff;
    if (magnitude >= uint64_t{1} << 53 && (magnitude & kLow) != 0) {
      magnitude = (magnitude & ~kLow) | (kLow + 1);
    }
    return negative ? -static_cast<double>(magnitude) : static_cast<double>(magnitude);
  } else {
    return static_cast<double>(value);
  }
}

template <typename To, typename From>
To convert_value(From value) {
  if constexpr (kIsHalf<From>) {
    return convert_value<To>(to_float(value));
  } else if constexpr (std::is_same_v<To, F16> && std::is_same_v<From, float>) {
    return to_f16(value);
  } else if constexpr (std::is_same_v<To, BF16> && std::is_same_v<From, float>) {
    return to_bf16(value);
  } else if constexpr (std::is_same_v<To, F16>) {
    return to_f16(round_to_odd(to_odd_double(value)));
  } else if constexpr (std::is_same_v<To, BF16>) {
    return to_bf16(round_to_odd(to_odd_double(value)));
  } else {
    return static_cast<To>(value);
  }
}

}  // namespace

Tensor convert(const Tensor& tensor, DType dtype) {
  if (tensor.dtype() == dtype) return tensor;
  Tensor result = Tensor::uninitialized(tensor.shape(), dtype);
  visit_dtype(tensor.dtype(), [&](auto from) {
    visit_dtype(dtype, [&](auto to) {
      using From = decltype(from);
      using To = decltype(to);
      if constexpr (kIsFloating<To>) {
        std::ranges::transform(tensor.values<From>(), result.mutable_values<To>().begin(),
                               [](From value) { return convert_value<To>(value); });
      } else {
        fail(ErrorKind::kUnsupported, "{} cannot be converted to {}; only to floating point",
             dtype_name(tensor.dtype()), dtype_name(dtype));
      }
    });
  });
  return result;
}

}  // namespace fovea
