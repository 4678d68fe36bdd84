#include "fovea/explain/pictures/lanczos.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/errors.h"

namespace fovea {
namespace {

TEST(Lanczos, FindsASecondEigenvectorCloseToTheThirdAcrossRestarts) {
  // diag(1, 0.999, 0.9985, ..., 0): the answer is known, and a small basis must restart.
  std::vector<double> diagonal(500);
  for (size_t i = 0; i < diagonal.size(); ++i) diagonal[i] = 0.9 * double(i) / 500;
  diagonal[17] = 1;
  diagonal[200] = 0.999;
  diagonal[3] = 0.9985;
  std::vector<double> known(diagonal.size(), 0.0);
  known[17] = 1;
  const auto multiply = [&](std::span<const double> x, std::span<double> out) {
    for (size_t i = 0; i < x.size(); ++i) out[i] = diagonal[i] * x[i];
  };
  for (const int64_t basis : {40, 400}) {
    const EigenPair pair = largest_eigenpair(multiply, known, {.basis = basis, .restarts = 100});
    EXPECT_LE(pair.residual, 1e-10);
    EXPECT_NEAR(pair.value, 0.999, 1e-12);
    // Residual over the distance to the next eigenvalue, 1e-10 / 5e-4.
    EXPECT_NEAR(std::abs(pair.vector[200]), 1, 1e-12);
    EXPECT_NEAR(pair.vector[3], 0, 1e-6);
    EXPECT_NEAR(pair.vector[17], 0, 1e-12);
  }
}

TEST(Lanczos, NeedsTwoRows) {
  const auto multiply = [](std::span<const double>, std::span<double>) {};
  const std::vector<double> known{1};
  EXPECT_TRUE(fails_cleanly([&] { largest_eigenpair(multiply, known); }));
}

}  // namespace
}  // namespace fovea
