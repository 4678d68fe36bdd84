#include "fovea/tensor/convert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/errors.h"

namespace fovea {
namespace {

using testing::ElementsAre;

template <typename T>
float as_half(T value) {
  const Tensor converted = convert(Tensor::from({}, std::vector<T>{value}), DType::kF16);
  return to_float(converted.values<F16>()[0]);
}

template <typename T>
float as_bfloat(T value) {
  const Tensor converted = convert(Tensor::from({}, std::vector<T>{value}), DType::kBF16);
  return to_float(converted.values<BF16>()[0]);
}

TEST(Convert, TheSameTypeIsTheSameTensor) {
  const Tensor tensor = Tensor::from({2}, std::vector<float>{1, 2});
  EXPECT_EQ(convert(tensor, DType::kF32).raw(), tensor.raw());
  const Tensor integers({2}, DType::kI32);
  EXPECT_EQ(convert(integers, DType::kI32).raw(), integers.raw());
}

TEST(Convert, EveryTypeBecomesEveryFloatingType) {
  for (const DType from :
       {DType::kBool, DType::kU8, DType::kI8, DType::kU16, DType::kI16, DType::kF16, DType::kBF16,
        DType::kU32, DType::kI32, DType::kF32, DType::kU64, DType::kI64, DType::kF64}) {
    Tensor tensor({2, 2}, from);
    visit_dtype(from, [&](auto type) {
      using T = decltype(type);
      T one{};
      if constexpr (std::is_same_v<T, F16>) {
        one = to_f16(1);
      } else if constexpr (std::is_same_v<T, BF16>) {
        one = to_bf16(1);
      } else {
        one = static_cast<T>(1);
      }
      tensor.mutable_values<T>()[1] = one;
      tensor.mutable_values<T>()[2] = one;
    });
    for (const DType to : {DType::kF16, DType::kBF16, DType::kF32, DType::kF64}) {
      SCOPED_TRACE(std::string(dtype_name(from)) + " to " + std::string(dtype_name(to)));
      const Tensor converted = convert(tensor, to);
      EXPECT_EQ(converted.dtype(), to);
      EXPECT_EQ(converted.shape(), Shape({2, 2}));
      EXPECT_THAT(convert(converted, DType::kF64).values<double>(), ElementsAre(0, 1, 1, 0));
    }
  }
}

TEST(Convert, RefusesIntegerTypes) {
  const Tensor tensor({2});
  EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, "F32 cannot be converted to I32",
                         [&] { convert(tensor, DType::kI32); }));
  EXPECT_TRUE(
      fails_with(ErrorKind::kUnsupported, "to BOOL", [&] { convert(tensor, DType::kBool); }));
}

TEST(Convert, ADoubleIsRoundedOnceNotTwice) {
  // A little above the middle of two neighbours: float makes it the middle, which would go to even.
  const double above_half = 1 + std::ldexp(1, -11) + std::ldexp(1, -40);
  EXPECT_EQ(as_half(above_half), 1 + std::ldexp(1.0F, -10));
  EXPECT_EQ(as_half(-above_half), -1 - std::ldexp(1.0F, -10));
  const double above_bfloat = 1 + std::ldexp(1, -8) + std::ldexp(1, -45);
  EXPECT_EQ(as_bfloat(above_bfloat), 1 + std::ldexp(1.0F, -7));
  const double below = 1 + std::ldexp(3, -11) - std::ldexp(1, -40);  // would go up to even
  EXPECT_EQ(as_half(below), 1 + std::ldexp(1.0F, -10));
  EXPECT_EQ(as_half(1 + std::ldexp(1, -11)), 1.0F);  // a true tie
}

TEST(Convert, A64BitIntegerIsRoundedOnceNotTwice) {
  const int64_t tie = (int64_t{1} << 62) + (int64_t{1} << 54);  // between two bfloats
  EXPECT_EQ(as_bfloat(tie), std::ldexp(1.0F, 62));
  EXPECT_EQ(as_bfloat(tie + 1), std::ldexp(1.0F, 62) + std::ldexp(1.0F, 55));
  EXPECT_EQ(as_bfloat(-tie - 1), -std::ldexp(1.0F, 62) - std::ldexp(1.0F, 55));
  EXPECT_EQ(as_bfloat(std::numeric_limits<int64_t>::min()), -std::ldexp(1.0F, 63));
  EXPECT_EQ(as_bfloat(std::numeric_limits<uint64_t>::max()), std::ldexp(1.0F, 64));
  EXPECT_EQ(as_half(int64_t{2049}), 2048.0F);  // a tie
  EXPECT_EQ(as_half(int64_t{2051}), 2052.0F);
}

TEST(Convert, ExtremeDoublesBecomeInfinityZeroAndNan) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(as_half(1e300), infinity);
  EXPECT_EQ(as_bfloat(-1e300), -infinity);
  EXPECT_EQ(as_bfloat(3.3895313892515355e38), 3.3895313892515355e38F);  // the largest bfloat
  EXPECT_EQ(as_half(1e-300), 0.0F);
  EXPECT_TRUE(std::signbit(as_half(-1e-300)));
  EXPECT_EQ(as_half(std::numeric_limits<double>::infinity()), infinity);
  EXPECT_TRUE(std::isnan(as_half(std::nan(""))));
  EXPECT_TRUE(std::isnan(as_bfloat(std::nan(""))));
}

TEST(Convert, EmptyTensorsKeepTheirShape) {
  EXPECT_EQ(convert(Tensor({3, 0}), DType::kF16).shape(), Shape({3, 0}));
}

}  // namespace
}  // namespace fovea
