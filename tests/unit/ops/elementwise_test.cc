#include "fovea/ops/elementwise.h"

#include <gtest/gtest.h>

#include "support/gradient_check.h"

namespace fovea {
namespace {

using support::check_gradients;
using support::Doubles;
using support::random_tensor;

struct Shapes {
  Shape a, b;
};
const std::vector<Shapes>& shape_pairs() {
  static const std::vector<Shapes> all{{{7}, {7}},       {{3, 5}, {3, 5}},    {{4, 9}, {9}},
                                       {{2, 3, 5}, {5}}, {{2, 3, 5}, {3, 5}}, {{6}, {}},
                                       {{}, {}}};
  return all;
}

template <typename Op>
Doubles broadcast(const std::vector<Doubles>& x, const Op& op) {
  Doubles result;
  for (size_t i = 0; i < x[0].size(); ++i) result.push_back(op(x[0][i], x[1][i % x[1].size()]));
  return result;
}

TEST(Add, MatchesDoubleWithItsGradients) {
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    for (const Shapes& shapes : shape_pairs()) {
      check_gradients(
          {.op = [](const auto& x) { return ops::add(x[0], x[1]); },
           .reference = [](const auto& x) { return broadcast(x, std::plus()); },
           .inputs = {random_tensor(shapes.a, seed), random_tensor(shapes.b, seed + 10)}},
          seed + 20);
    }
  }
}

TEST(Multiply, MatchesDoubleWithItsGradients) {
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    for (const Shapes& shapes : shape_pairs()) {
      check_gradients(
          {.op = [](const auto& x) { return ops::multiply(x[0], x[1]); },
           .reference = [](const auto& x) { return broadcast(x, std::multiplies()); },
           .inputs = {random_tensor(shapes.a, seed), random_tensor(shapes.b, seed + 10)}},
          seed + 20);
    }
  }
}

TEST(Scale, MatchesDoubleWithItsGradient) {
  check_gradients({.op = [](const auto& x) { return ops::scale(x[0], -2.5f); },
                   .reference =
                       [](const auto& x) {
                         Doubles result;
                         for (const double value : x[0]) result.push_back(-2.5 * value);
                         return result;
                       },
                   .inputs = {random_tensor({3, 7}, 1)}},
                  2);
}

TEST(Elementwise, RefusesShapesAndTypesThatDoNotFit) {
  const Value a = random_tensor({2, 3}, 1);
  EXPECT_THROW(ops::add(a, random_tensor({2}, 2)), Error);
  EXPECT_THROW(ops::add(random_tensor({3}, 2), a), Error);
  EXPECT_THROW(ops::multiply(a, random_tensor({3, 2}, 2)), Error);
  EXPECT_THROW(ops::add(a, Tensor(Shape{2, 3}, DType::kF16)), Error);
  EXPECT_THROW(ops::scale(Tensor(Shape{2}, DType::kI64), 2), Error);
}

}  // namespace
}  // namespace fovea
