#include "fovea/tensor/dtype.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace fovea {
namespace {

// What a 16-bit floating-point pattern means, straight from the definition of the format.
double reference_value(uint16_t bits, int exponent_bits, int fraction_bits) {
  const int exponent = (bits >> fraction_bits) & ((1 << exponent_bits) - 1);
  const int fraction = bits & ((1 << fraction_bits) - 1);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1) {
    return fraction != 0 ? std::nan("") : sign * std::numeric_limits<double>::infinity();
  }
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - fraction_bits);
  return sign * std::ldexp((1 << fraction_bits) + fraction, exponent - bias - fraction_bits);
}

double half_value(uint16_t bits) {
  return reference_value(bits, 5, 10);
}
double bfloat_value(uint16_t bits) {
  return reference_value(bits, 8, 7);
}

bool same(double a, double b) {
  return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
}

TEST(F16, EveryPatternHasItsValueAndComesBack) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const F16 half{static_cast<uint16_t>(bits)};
    const float value = to_float(half);
    ASSERT_TRUE(same(value, half_value(half.bits))) << bits;
    if (!std::isnan(value)) {
      ASSERT_EQ(to_f16(value).bits, half.bits);
    } else {
      ASSERT_TRUE(std::isnan(half_value(to_f16(value).bits))) << bits;
    }
  }
}

TEST(BF16, EveryPatternHasItsValueAndComesBack) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const BF16 bfloat{static_cast<uint16_t>(bits)};
    const float value = to_float(bfloat);
    ASSERT_TRUE(same(value, bfloat_value(bfloat.bits))) << bits;
    if (!std::isnan(value)) {
      ASSERT_EQ(to_bf16(value).bits, bfloat.bits);
    } else {
      ASSERT_TRUE(std::isnan(bfloat_value(to_bf16(value).bits))) << bits;
    }
  }
}

// Half way between two neighbours, and one float to either side of it. The value after the largest
// counts as infinity, as IEEE 754 rounds.
template <typename Round, typename Value>
void check_rounding_between_neighbours(uint16_t infinity, Round round, Value value_of) {
  for (uint32_t bits = 0; bits < infinity; ++bits) {
    const double low = value_of(static_cast<uint16_t>(bits));
    const double gap = bits + 1 == infinity ? low - value_of(static_cast<uint16_t>(bits - 1))
                                            : value_of(static_cast<uint16_t>(bits + 1)) - low;
    const double exact_middle = low + gap / 2;
    const auto middle = static_cast<float>(exact_middle);
    if (static_cast<double>(middle) != exact_middle) continue;  // below the smallest float
    const float above = std::nextafter(middle, std::numeric_limits<float>::infinity());
    const float below = std::nextafter(middle, 0.0F);
    const uint32_t even = bits % 2 == 0 ? bits : bits + 1;
    ASSERT_EQ(round(middle), even) << bits;
    ASSERT_EQ(round(above), bits + 1) << bits;
    ASSERT_EQ(round(below), bits) << bits;
    ASSERT_EQ(round(-middle), even | 0x8000) << bits;
    ASSERT_EQ(round(-above), (bits + 1) | 0x8000) << bits;
    ASSERT_EQ(round(-below), bits | 0x8000) << bits;
  }
}

TEST(F16, RoundsToNearestEven) {
  check_rounding_between_neighbours(
      0x7c00, [](float v) { return to_f16(v).bits; }, half_value);
}

TEST(BF16, RoundsToNearestEven) {
  check_rounding_between_neighbours(
      0x7f80, [](float v) { return to_bf16(v).bits; }, bfloat_value);
}

TEST(F16, InfinityNanAndOverflow) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(to_f16(infinity).bits, 0x7c00);
  EXPECT_EQ(to_f16(-infinity).bits, 0xfc00);
  EXPECT_EQ(to_f16(1e30F).bits, 0x7c00);
  EXPECT_EQ(to_f16(65519.99F).bits, 0x7bff);
  EXPECT_EQ(to_f16(65520.0F).bits, 0x7c00);
  EXPECT_TRUE(std::isnan(to_float(to_f16(std::nanf("")))));
  EXPECT_EQ(to_f16(1e-30F).bits, 0);
  EXPECT_EQ(to_f16(-0.0F).bits, 0x8000);
}

TEST(BF16, ANanWithALowPayloadStaysANan) {
  EXPECT_TRUE(std::isnan(to_float(to_bf16(std::bit_cast<float>(0x7f800001U)))));
  EXPECT_TRUE(std::isnan(to_float(to_bf16(std::bit_cast<float>(0xffffffffU)))));
  EXPECT_EQ(to_bf16(std::numeric_limits<float>::max()).bits, 0x7f80);
}

TEST(DType, NamesAndSizesAgreeWithTheCppTypes) {
  for (const DType dtype :
       {DType::kBool, DType::kU8, DType::kI8, DType::kU16, DType::kI16, DType::kF16, DType::kBF16,
        DType::kU32, DType::kI32, DType::kF32, DType::kU64, DType::kI64, DType::kF64}) {
    EXPECT_EQ(find_dtype(dtype_name(dtype)), dtype);
    visit_dtype(dtype, [&](auto value) {
      EXPECT_EQ(kDTypeOf<decltype(value)>, dtype);
      EXPECT_EQ(sizeof(value), dtype_bytes(dtype));
    });
  }
  EXPECT_EQ(find_dtype("F8_E4M3"), std::nullopt);
  EXPECT_EQ(find_dtype(""), std::nullopt);
  EXPECT_EQ(find_dtype("f32"), std::nullopt);
}

}  // namespace
}  // namespace fovea
