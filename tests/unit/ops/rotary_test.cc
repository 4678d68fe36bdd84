#include "fovea/ops/rotary.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/gradient_check.h"

namespace fovea {
namespace {

using support::check_gradients;
using support::Doubles;
using support::random_tensor;

TEST(RotaryOp, MatchesDoubleWithItsGradient) {
  const size_t heads = 2, rows = 3, dim = 11;
  const std::vector<int64_t> positions{0, 5, 2};
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    for (const int64_t rotated : {2, 6, 10}) {
      for (const RotaryPairing pairing : {RotaryPairing::kHalves, RotaryPairing::kNeighbours}) {
        const RotaryTable table =
            make_rotary_table(positions, rotary_frequencies(rotated, 50.0f), /*scale=*/1.5f);
        const auto reference = [&](const auto& x) {
          Doubles result = x[0];
          const auto pairs = static_cast<size_t>(rotated / 2);
          for (size_t r = 0; r < heads * rows; ++r) {
            for (size_t p = 0; p < pairs; ++p) {
              const bool halves = pairing == RotaryPairing::kHalves;
              const size_t first = r * dim + (halves ? p : 2 * p);
              const size_t second = r * dim + (halves ? p + pairs : 2 * p + 1);
              const double c = table.cos.values<float>()[r % rows * pairs + p];
              const double s = table.sin.values<float>()[r % rows * pairs + p];
              result[first] = x[0][first] * c - x[0][second] * s;
              result[second] = x[0][first] * s + x[0][second] * c;
            }
          }
          return result;
        };
        check_gradients({.op = [&](const auto& x) { return ops::rotary(x[0], table, pairing); },
                         .reference = reference,
                         .inputs = {random_tensor({2, 3, 11}, seed)}},
                        seed + 10);
      }
    }
  }
}

TEST(RotaryOp, RefusesTablesThatDoNotFit) {
  const RotaryTable table =
      make_rotary_table(std::vector<int64_t>{0, 1}, rotary_frequencies(4, 10));
  EXPECT_THROW(ops::rotary(random_tensor({1, 3, 8}, 1), table, RotaryPairing::kHalves), Error);
  EXPECT_THROW(ops::rotary(random_tensor({1, 2, 3}, 1), table, RotaryPairing::kHalves), Error);
  EXPECT_THROW(ops::rotary(random_tensor({2}, 1), table, RotaryPairing::kHalves), Error);
  EXPECT_NO_THROW(ops::rotary(random_tensor({2, 4}, 1), table, RotaryPairing::kHalves));
}

}  // namespace
}  // namespace fovea
