#include "fovea/ops/softmax.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/gradient_check.h"

namespace fovea {
namespace {

using testing::check_gradients;
using testing::Doubles;
using testing::random_tensor;

TEST(SoftmaxOp, MatchesDoubleWithItsGradient) {
  for (const Shape& shape : {Shape{1, 1}, Shape{3, 5}, Shape{2, 3, 19}, Shape{6}}) {
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      const auto cols = static_cast<size_t>(shape.back());
      check_gradients({.op = [](const auto& x) { return ops::softmax(x[0]); },
                       .reference =
                           [cols](const auto& x) {
                             Doubles result;
                             for (size_t row = 0; row < x[0].size(); row += cols) {
                               double sum = 0;
                               for (size_t j = 0; j < cols; ++j) sum += std::exp(x[0][row + j]);
                               for (size_t j = 0; j < cols; ++j) {
                                 result.push_back(std::exp(x[0][row + j]) / sum);
                               }
                             }
                             return result;
                           },
                       .inputs = {random_tensor(shape, seed)}},
                      seed + 10);
    }
  }
}

TEST(SoftmaxOp, MaskedEntriesHaveZeroGradient) {
  constexpr float kMasked = -std::numeric_limits<float>::infinity();
  Tape tape;
  const Value x = tape.watch(
      Tensor::from<float>({2, 3}, std::vector<float>{1, kMasked, 2, kMasked, kMasked, kMasked}));
  const Value y = ops::softmax(x);
  const Tensor gradient = tape.gradient(y, random_tensor({2, 3}, 1), {x})[0];
  for (const size_t masked : {1, 3, 4, 5}) EXPECT_EQ(gradient.values<float>()[masked], 0.0f);
  EXPECT_NE(gradient.values<float>()[0], 0.0f);
}

}  // namespace
}  // namespace fovea
