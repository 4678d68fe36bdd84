#include "fovea/kernels/fold.h"

#include <gtest/gtest.h>

#include "support/attention_cases.h"
#include "support/simd_targets.h"

namespace fovea {
namespace {

TEST(Fold, EqualsThePlainSumsForAnyWidthOnEverySimdTarget) {
  support::for_each_simd_target([] {
    for (int64_t cols = 1; cols < 70; ++cols) {
      for (const int64_t rows : {1, 2, 48}) {
        std::mt19937 random(static_cast<uint32_t>(cols));
        const Tensor tensor = support::random_heads(random, {rows, cols + 3}, 1, DType::kF32);
        const auto block = tensor.matrix<float>().block(0, 2, rows, cols);
        std::vector<float> weights;
        for (int64_t r = 0; r < rows; ++r) weights.push_back(float(r % 5) - 1.5F);
        std::vector<float> weighted(size_t(cols), 1.0F);
        fold_weighted(block, weights, weighted);
        for (int64_t c = 0; c < cols; ++c) {
          double weighted_sum = 1;
          for (int64_t r = 0; r < rows; ++r) {
            weighted_sum += double{weights[size_t(r)]} * double{block(r, c)};
          }
          ASSERT_NEAR(weighted[size_t(c)], weighted_sum, 2e-5);  // 48 terms near 1
        }
      }
    }
  });
}

}  // namespace
}  // namespace fovea
