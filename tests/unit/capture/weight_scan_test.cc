#include "fovea/capture/weight_scan.h"

#include <gtest/gtest.h>

#include <limits>

#include "support/errors.h"
#include "support/stored_record.h"

namespace fovea {
namespace {

using support::random_weights;

constexpr DType kTypes[] = {DType::kF32, DType::kF16, DType::kBF16, DType::kF64};

TEST(WeightScan, CountsRowsThatDoNotSumToOne) {
  // More rows than a thread takes at a time.
  Tensor weights = random_weights({7, 500, 200}, 1);
  const MatrixView<float> rows = weights.mutable_matrix<float>();
  for (const int64_t r : {3, 1700, 3499}) {
    for (int64_t c = 0; c < 200; ++c) rows(r, c) *= r == 3 ? 0.5F : 1.5F;
  }
  for (int64_t c = 0; c < 200; ++c) rows(40, c) = 0;
  for (const DType dtype : kTypes) {
    SCOPED_TRACE(dtype_name(dtype));
    const WeightScan scan = scan_weights(convert(weights, dtype), "w");
    EXPECT_EQ(scan.rows, 3500);
    EXPECT_EQ(scan.not_one, 4);
    EXPECT_EQ(scan.least_sum, 0);
    EXPECT_NEAR(scan.most_sum, 1.5, sum_tolerance(dtype));
    EXPECT_FALSE(scan.zero_above);
    const auto all = convert(convert(weights, dtype), DType::kF32);
    EXPECT_EQ(scan.largest, *std::ranges::max_element(all.values<float>()));
  }
}

TEST(WeightScan, AllowsWhatNumbersAreRoundedTo) {
  for (const double off : {0.0009, -0.0009, 0.0011, -0.0011, 0.009, -0.009, 0.012, -0.012}) {
    const Tensor weights = random_weights({1, 4, 64}, 2, 1 + off);
    for (const DType dtype : {DType::kF32, DType::kF64}) {
      const int64_t found = scan_weights(convert(weights, dtype), "w").not_one;
      EXPECT_EQ(found, std::abs(off) > 1e-3 ? 4 : 0) << off;
    }
    EXPECT_EQ(scan_weights(convert(weights, DType::kF16), "w").not_one,
              std::abs(off) > 1e-2 ? 4 : 0)
        << off;
  }
}

TEST(WeightScan, SeesWhetherAnythingLiesAboveTheDiagonal) {
  Tensor weights({2, 9, 9});
  for (int64_t head = 0; head < 2; ++head) {
    for (int64_t r = 0; r < 9; ++r) weights.mutable_matrix<float>(head)(r, 0) = 1;
  }
  EXPECT_TRUE(scan_weights(weights, "w").zero_above);
  weights.mutable_matrix<float>(0)(8, 8) = 1;
  EXPECT_TRUE(scan_weights(weights, "w").zero_above);
  Tensor later = weights.clone();
  later.mutable_matrix<float>(1)(7, 8) = 1e-30F;
  EXPECT_FALSE(scan_weights(later, "w").zero_above);
  EXPECT_FALSE(scan_weights(Tensor({2, 8, 9}), "w").zero_above);
}

TEST(WeightScan, NamesTheFirstCellThatIsNoWeight) {
  struct BadValue {
    double value;
    const char* told;
  };
  for (const BadValue& bad :
       {BadValue{-0.25, "-0.25"}, BadValue{std::numeric_limits<double>::quiet_NaN(), "nan"},
        BadValue{std::numeric_limits<double>::infinity(), "inf"}}) {
    for (const DType dtype : kTypes) {
      SCOPED_TRACE(dtype_name(dtype));
      Tensor weights = random_weights({3, 400, 700}, 3);
      for (const int64_t r : {2, 399}) {
        weights.mutable_matrix<float>(1)(r, 600) = static_cast<float>(bad.value);
        weights.mutable_matrix<float>(2)(r, 5) = static_cast<float>(bad.value);
      }
      const std::string wanted = fmt::format(
          "w: head 1, row 2, column 600 is {}; weights are finite and 0 or more", bad.told);
      EXPECT_TRUE(fails_with(ErrorKind::kBadFile, wanted,
                             [&] { scan_weights(convert(weights, dtype), "w"); }));
    }
  }
  // Finite in its own type, but not in that of maps.
  const Tensor huge = Tensor::from<double>({1, 1, 2}, std::vector{0.5, 1e300});
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "column 1 is inf", [&] { scan_weights(huge, "w"); }));
  const Tensor zeros = Tensor::from<float>({1, 1, 2}, std::vector{1.0F, -0.0F});
  EXPECT_EQ(scan_weights(zeros, "w").not_one, 0);
}

}  // namespace
}  // namespace fovea
