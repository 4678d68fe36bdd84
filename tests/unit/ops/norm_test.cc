#include "fovea/ops/norm.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/gradient_check.h"

namespace fovea {
namespace {

using support::check_gradients;
using support::Doubles;
using support::random_tensor;

constexpr float kEpsilon = 1e-5f;

// x[0] in rows of `cols`; x[1] is the weight and x[2] the bias where there are any.
Doubles reference_norm(const std::vector<Doubles>& x, size_t cols, bool centred) {
  Doubles result;
  for (size_t row = 0; row < x[0].size(); row += cols) {
    double mean = 0, squares = 0;
    for (size_t j = 0; j < cols; ++j) mean += x[0][row + j] / static_cast<double>(cols);
    if (!centred) mean = 0;
    for (size_t j = 0; j < cols; ++j) {
      const double deviation = x[0][row + j] - mean;
      squares += deviation * deviation / static_cast<double>(cols);
    }
    for (size_t j = 0; j < cols; ++j) {
      double value = (x[0][row + j] - mean) / std::sqrt(squares + double{kEpsilon});
      if (x.size() > 1) value *= x[1][j];
      if (x.size() > 2) value += x[2][j];
      result.push_back(value);
    }
  }
  return result;
}

TEST(LayerNormOp, MatchesDoubleWithItsGradients) {
  for (const Shape& shape : {Shape{1, 3}, Shape{4, 7}, Shape{2, 3, 17}, Shape{5}}) {
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      SCOPED_TRACE(to_string(shape));
      const int64_t cols = shape.back();
      const auto reference = [cols](const auto& x) {
        return reference_norm(x, static_cast<size_t>(cols), /*centred=*/true);
      };
      const Tensor x = random_tensor(shape, seed), weight = random_tensor({cols}, seed + 10);
      check_gradients(
          {.op = [](const auto& v) { return ops::layer_norm(v[0], v[1], v[2], kEpsilon); },
           .reference = reference,
           .inputs = {x, weight, random_tensor({cols}, seed + 20)}},
          seed + 30);
      check_gradients(
          {.op = [](const auto& v) { return ops::layer_norm(v[0], v[1], {}, kEpsilon); },
           .reference = reference,
           .inputs = {x, weight}},
          seed + 30);
      check_gradients({.op = [](const auto& v) { return ops::layer_norm(v[0], {}, {}, kEpsilon); },
                       .reference = reference,
                       .inputs = {x}},
                      seed + 30);
    }
  }
}

TEST(RmsNormOp, MatchesDoubleWithItsGradients) {
  for (const Shape& shape : {Shape{1, 3}, Shape{4, 7}, Shape{2, 3, 17}}) {
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      SCOPED_TRACE(to_string(shape));
      const int64_t cols = shape.back();
      const auto reference = [cols](const auto& x) {
        return reference_norm(x, static_cast<size_t>(cols), /*centred=*/false);
      };
      const Tensor x = random_tensor(shape, seed);
      check_gradients({.op = [](const auto& v) { return ops::rms_norm(v[0], v[1], kEpsilon); },
                       .reference = reference,
                       .inputs = {x, random_tensor({cols}, seed + 10)}},
                      seed + 30);
      check_gradients({.op = [](const auto& v) { return ops::rms_norm(v[0], {}, kEpsilon); },
                       .reference = reference,
                       .inputs = {x}},
                      seed + 30);
    }
  }
}

TEST(NormOps, RefuseWeightsThatDoNotFit) {
  const Value x = random_tensor({2, 4}, 1);
  EXPECT_THROW(ops::layer_norm(x, random_tensor({3}, 2), {}, kEpsilon), Error);
  EXPECT_THROW(ops::layer_norm(x, {}, random_tensor({1, 4}, 2), kEpsilon), Error);
  EXPECT_THROW(ops::rms_norm(x, Tensor(Shape{4}, DType::kF16), kEpsilon), Error);
  EXPECT_THROW(ops::rms_norm(Tensor(Shape{}), {}, kEpsilon), Error);
}

}  // namespace
}  // namespace fovea
