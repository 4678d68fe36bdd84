#include "fovea/kernels/fixed_point.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <vector>

#include "fovea/base/error.h"
#include "support/fixed_rows.h"
#include "support/random.h"
#include "support/simd_targets.h"

namespace fovea {
namespace {

using support::fixed_unit_of;
using support::for_each_simd_target;
using support::random_tensor;

// The integers of row 0 and their unit.
struct Fixed {
  std::vector<int16_t> numbers;
  float unit;
};
Fixed fixed(const std::vector<float>& row) {
  FixedRows rows(1, static_cast<int64_t>(row.size()));
  rows.set(0, row.data());
  const I16Rows view = rows.view(0, 1);
  return {{view.data, view.data + row.size()}, view.units[0]};
}

std::vector<float> random_row(int64_t count, uint64_t seed, float scale = 1) {
  const Tensor row = random_tensor({count}, seed, scale);
  return {row.values<float>().begin(), row.values<float>().end()};
}

TEST(FixedPoint, RowsAreTheNearestIntegersOfTheSmallestUnit) {
  for_each_simd_target([] {
    for (const int64_t count : {1, 2, 7, 15, 16, 17, 64, 65, 300, 1024}) {
      for (const float scale : {1e-20F, 1e-3F, 1.0F, 777.0F, 1e20F}) {
        const std::vector<float> row = random_row(count, static_cast<uint64_t>(count), scale);
        const Fixed found = fixed(row);
        const double unit = fixed_unit_of(row.data(), count);
        ASSERT_EQ(found.unit, unit) << count << " of " << scale;
        for (size_t i = 0; i < row.size(); ++i) {
          ASSERT_EQ(found.numbers[i], std::nearbyint(row[i] / unit)) << i;
        }
      }
    }
  });
}

// The worst rows there are: all terms of one size and sign, a single one, and one above many.
TEST(FixedPoint, NoSumOfProductsLeaves32Bits) {
  const auto largest_sum = [](const std::vector<float>& a, const std::vector<float>& b) {
    const Fixed x = fixed(a), y = fixed(b);
    int64_t sum = 0;
    for (size_t i = 0; i < a.size(); ++i) {
      sum += std::abs(int64_t{x.numbers[i]} * int64_t{y.numbers[i]});
    }
    return sum;
  };
  for (const size_t count : {1U, 2U, 3U, 768U, 65536U, 400000U}) {
    // Just below where the unit doubles, where integers are largest.
    for (const float size : {1.0F, 45999.9F, 32767.0F, 32766.5F}) {
      std::vector<float> even(count, size / std::sqrt(static_cast<float>(count)));
      std::vector<float> peaked(count, 0.4F);
      peaked[count / 2] = size;
      for (const std::vector<float>* a : {&even, &peaked}) {
        for (const std::vector<float>* b : {&even, &peaked}) {
          ASSERT_LE(largest_sum(*a, *b), std::numeric_limits<int32_t>::max()) << count;
        }
      }
    }
  }
}

TEST(FixedPoint, RoundingCostsASixthOfWhatBf16Does) {
  const int64_t count = 768;
  double fixed_error = 0, bf16_error = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const std::vector<float> a = random_row(count, 2 * seed), b = random_row(count, 2 * seed + 1);
    const Fixed x = fixed(a), y = fixed(b);
    double exact = 0, fixed_sum = 0, bf16_sum = 0;
    for (size_t i = 0; i < a.size(); ++i) {
      exact += double{a[i]} * double{b[i]};
      fixed_sum += double{x.unit} * x.numbers[i] * double{y.unit} * y.numbers[i];
      bf16_sum += double{to_float(to_bf16(a[i]))} * double{to_float(to_bf16(b[i]))};
    }
    fixed_error += (fixed_sum - exact) * (fixed_sum - exact);
    bf16_error += (bf16_sum - exact) * (bf16_sum - exact);
  }
  EXPECT_LT(std::sqrt(fixed_error / bf16_error), 1.0 / 6);
}

TEST(FixedPoint, ZerosAndWhatIsNotFinite) {
  const float infinity = std::numeric_limits<float>::infinity();
  for_each_simd_target([=] {
    EXPECT_EQ(fixed({0, 0, 0}).unit, 0);
    for (const float bad : {infinity, -infinity, std::numeric_limits<float>::quiet_NaN()}) {
      for (const size_t count : {1U, 3U, 40U, 130U}) {
        std::vector<float> row(count, 1);
        row[count - 1] = bad;
        const Fixed found = fixed(row);
        EXPECT_TRUE(std::isnan(found.unit)) << bad;
        EXPECT_TRUE(std::ranges::all_of(found.numbers, [](int16_t n) { return n == 0; }));
      }
    }
    // Squares that no float holds.
    const float most = std::numeric_limits<float>::max();
    EXPECT_EQ(fixed({most, -most}).unit, fixed_unit_of(std::vector<float>{most, -most}.data(), 2));
    // Less than the smallest unit is zero.
    EXPECT_EQ(fixed({1e-40F, 0}).numbers[0], 0);
  });
}

TEST(FixedPoint, NumbersOnceRoundedAreNotRoundedAgain) {
  for_each_simd_target([] {
    for (uint64_t seed = 0; seed < 300; ++seed) {
      // Also where rounding could carry a row over the edge to the next unit.
      const float scale = 1 + 0.01F * static_cast<float>(seed);
      Tensor each = random_tensor({5, 33}, seed, scale), common = random_tensor({5, 33}, seed);
      round_to_units(each.mutable_matrix<float>());
      round_to_common_unit(common.mutable_matrix<float>());
      for (const Tensor* rounded : {&each, &common}) {
        for (int64_t r = 0; r < 5; ++r) {
          const float* row = rounded->matrix<float>().row(r);
          const Fixed found = fixed({row, row + 33});
          for (size_t i = 0; i < 33; ++i) {
            ASSERT_EQ(static_cast<float>(found.numbers[i]) * found.unit, row[i]) << seed;
          }
        }
      }
    }
  });
}

TEST(FixedPoint, RoundingMovesANumberByHalfAUnitAtMost) {
  const Tensor before = random_tensor({9, 70}, 4);
  Tensor each = before.clone(), common = before.clone();
  round_to_units(each.mutable_matrix<float>());
  round_to_common_unit(common.mutable_matrix<float>());
  // Of the unit that leaves room: at most the next one.
  double largest_unit = 0;
  for (int64_t r = 0; r < 9; ++r) {
    largest_unit = std::max(largest_unit, fixed_unit_of(before.matrix<float>().row(r), 70));
  }
  for (int64_t r = 0; r < 9; ++r) {
    const double unit = fixed_unit_of(before.matrix<float>().row(r), 70);
    for (int64_t c = 0; c < 70; ++c) {
      EXPECT_NEAR(each.matrix<float>()(r, c), before.matrix<float>()(r, c), unit);
      EXPECT_NEAR(common.matrix<float>()(r, c), before.matrix<float>()(r, c), largest_unit);
    }
  }
  Tensor bad = before.clone();
  bad.mutable_values<float>()[3] = std::numeric_limits<float>::infinity();
  Tensor same = bad.clone();
  round_to_common_unit(bad.mutable_matrix<float>());  // left as it is
  EXPECT_TRUE(std::ranges::equal(bad.values<float>(), same.values<float>()));
}

TEST(FixedPoint, OtherTypesAreRefused) {
  EXPECT_EQ(usable_compute_dtype(DType::kF32), DType::kF32);
  EXPECT_EQ(usable_compute_dtype(DType::kI16), has_i16_dot() ? DType::kI16 : DType::kF32);
  EXPECT_THROW(usable_compute_dtype(DType::kBF16), Error);
}

}  // namespace
}  // namespace fovea
