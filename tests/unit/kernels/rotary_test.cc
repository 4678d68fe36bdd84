#include "fovea/kernels/rotary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <vector>

#include "support/compare.h"
#include "support/random.h"
#include "support/simd_targets.h"

namespace fovea {
namespace {

using support::all_close;
using support::for_each_simd_target;
using support::random_floats;
using support::random_tensor;

// Each pair as a complex number times (cos + i sin).
std::vector<double> reference_rotation(const Tensor& x, const RotaryTable& table,
                                       RotaryPairing pairing, bool backwards) {
  std::vector<double> result = support::to_doubles(x);
  const int64_t cols = x.size(1), pairs = table.pairs();
  for (int64_t r = 0; r < x.size(0); ++r) {
    for (int64_t p = 0; p < pairs; ++p) {
      const bool halves = pairing == RotaryPairing::kHalves;
      double& a = result[static_cast<size_t>(r * cols + (halves ? p : 2 * p))];
      double& b = result[static_cast<size_t>(r * cols + (halves ? p + pairs : 2 * p + 1))];
      std::complex<double> turn(table.cos.matrix<float>()(r, p), table.sin.matrix<float>()(r, p));
      if (backwards) turn = std::conj(turn);
      const std::complex<double> turned = std::complex<double>(a, b) * turn;
      a = turned.real();
      b = turned.imag();
    }
  }
  return result;
}

TEST(Rotary, MatchesComplexMultiplicationForAllWidths) {
  for_each_simd_target([] {
    for (int64_t pairs = 0; pairs <= 35; ++pairs) {
      for (const int64_t rest : {0, 3}) {
        SCOPED_TRACE(pairs);
        const auto seed = static_cast<uint64_t>(pairs);
        const Tensor x = random_tensor({5, 2 * pairs + rest + 1}, seed);
        const RotaryTable table{.cos = random_tensor({5, pairs}, seed + 1),
                                .sin = random_tensor({5, pairs}, seed + 2)};
        for (const RotaryPairing pairing : {RotaryPairing::kHalves, RotaryPairing::kNeighbours}) {
          for (const bool backwards : {false, true}) {
            const auto expected = reference_rotation(x, table, pairing, backwards);
            Tensor out = Tensor::uninitialized(x.shape());
            rotate_rows(x.matrix<float>(), table, pairing, backwards, out.mutable_matrix<float>());
            EXPECT_TRUE(all_close(out, expected, 2e-6));  // three roundings of numbers up to 10
            Tensor in_place = x.clone();
            const MatrixView<float> view = in_place.mutable_matrix<float>();
            rotate_rows(view, table, pairing, backwards, view);
            EXPECT_TRUE(all_close(in_place, expected, 2e-6));
          }
        }
      }
    }
  });
}

TEST(Rotary, TableHoldsCosAndSinOfPositionTimesFrequency) {
  const std::vector<float> frequencies = rotary_frequencies(10, 10000.0f);
  ASSERT_EQ(frequencies.size(), 5u);
  for (size_t p = 0; p < 5; ++p) {
    EXPECT_NEAR(frequencies[p], std::pow(10000.0, -2.0 * static_cast<double>(p) / 10), 1e-7);
  }
  const std::vector<int64_t> positions{0, 1, 7, 100'000};
  const RotaryTable table = make_rotary_table(positions, frequencies, /*scale=*/0.5f);
  for (int64_t r = 0; r < 4; ++r) {
    for (int64_t p = 0; p < 5; ++p) {
      // The angle is rounded to f32 on purpose; see the header.
      const float angle = static_cast<float>(positions[static_cast<size_t>(r)]) *
                          frequencies[static_cast<size_t>(p)];
      EXPECT_NEAR(table.cos.matrix<float>()(r, p), 0.5 * std::cos(double{angle}), 1e-7);
      EXPECT_NEAR(table.sin.matrix<float>()(r, p), 0.5 * std::sin(double{angle}), 1e-7);
    }
  }
}

TEST(Rotary, DotProductDependsOnTheDistanceOnly) {
  // What rotary embedding is for: (q at i) . (k at j) = (q at i + 5) . (k at j + 5).
  const std::vector<float> frequencies = rotary_frequencies(16, 100.0f);
  const std::vector<float> q = random_floats(16, 1), k = random_floats(16, 2);
  for (const RotaryPairing pairing : {RotaryPairing::kHalves, RotaryPairing::kNeighbours}) {
    const auto dot = [&](int64_t i, int64_t j) {
      std::vector<float> a = q, b = k;
      rotate_rows({a.data(), 1, 16}, make_rotary_table(std::vector{i}, frequencies), pairing, false,
                  {a.data(), 1, 16});
      rotate_rows({b.data(), 1, 16}, make_rotary_table(std::vector{j}, frequencies), pairing, false,
                  {b.data(), 1, 16});
      double sum = 0;
      for (size_t c = 0; c < 16; ++c) sum += double{a[c]} * double{b[c]};
      return sum;
    };
    EXPECT_NEAR(dot(3, 9), dot(8, 14), 2e-5);  // angles up to 14 rounded to 1e-6
    EXPECT_GT(std::abs(dot(3, 9) - dot(3, 10)), 1e-3);
  }
}

TEST(Rotary, AnOddDimensionHasOnePairMoreAndItsOwnExponents) {
  const std::vector<float> frequencies = rotary_frequencies(7, 10000.0f);
  ASSERT_EQ(frequencies.size(), 4U);
  for (size_t p = 0; p < 4; ++p) {
    // Two roundings to f32.
    EXPECT_NEAR(frequencies[p] * std::pow(10000.0, 2.0 * static_cast<double>(p) / 7), 1, 3e-7);
  }
}

TEST(Rotary, RefusesTablesThatDoNotFit) {
  Tensor x = random_tensor({3, 8}, 1);
  const MatrixView<float> view = x.mutable_matrix<float>();
  const auto table = [](int64_t rows, int64_t pairs) {
    return RotaryTable{.cos = Tensor(Shape{rows, pairs}), .sin = Tensor(Shape{rows, pairs})};
  };
  EXPECT_THROW(rotate_rows(view, table(2, 4), RotaryPairing::kHalves, false, view), Error);
  EXPECT_THROW(rotate_rows(view, table(3, 5), RotaryPairing::kHalves, false, view), Error);
  EXPECT_NO_THROW(rotate_rows(view, table(3, 4), RotaryPairing::kHalves, false, view));
  EXPECT_THROW(rotary_frequencies(-1, 10000.0f), Error);
  EXPECT_THROW(rotary_frequencies(8, -1.0f), Error);
}

}  // namespace
}  // namespace fovea
