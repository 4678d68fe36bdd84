#include "fovea/ops/layout.h"

#include <gtest/gtest.h>

#include "support/gradient_check.h"

namespace fovea {
namespace {

using support::all_close;
using support::check_gradients;
using support::Doubles;
using support::random_tensor;

TEST(Transpose, SwapsAnyTwoAxesWithItsGradient) {
  const Shape shape{2, 3, 4, 5};
  for (int a = 0; a < 4; ++a) {
    for (int b = 0; b < 4; ++b) {
      if (a == b) continue;
      const auto reference = [&](const auto& x) {
        std::vector<int64_t> sizes = shape.sizes();
        std::swap(sizes[static_cast<size_t>(a)], sizes[static_cast<size_t>(b)]);
        Doubles result;
        std::vector<int64_t> place(4);
        for (place[0] = 0; place[0] < sizes[0]; ++place[0])
          for (place[1] = 0; place[1] < sizes[1]; ++place[1])
            for (place[2] = 0; place[2] < sizes[2]; ++place[2])
              for (place[3] = 0; place[3] < sizes[3]; ++place[3]) {
                std::vector<int64_t> from = place;
                std::swap(from[static_cast<size_t>(a)], from[static_cast<size_t>(b)]);
                const int64_t index = ((from[0] * 3 + from[1]) * 4 + from[2]) * 5 + from[3];
                result.push_back(x[0][static_cast<size_t>(index)]);
              }
        return result;
      };
      check_gradients({.op = [&](const auto& x) { return ops::transpose(x[0], a, b - 4); },
                       .reference = reference,
                       .inputs = {random_tensor(shape, 1)},
                       .forward_tolerance = 0},
                      2);
    }
  }
}

Doubles split(const Doubles& x, size_t rows, size_t heads, size_t dim) {
  Doubles result;
  for (size_t h = 0; h < heads; ++h)
    for (size_t r = 0; r < rows; ++r)
      for (size_t c = 0; c < dim; ++c) result.push_back(x[r * heads * dim + h * dim + c]);
  return result;
}

TEST(Heads, SplitAndMergeMatchDoubleWithTheirGradients) {
  for (const size_t heads : {1, 2, 5}) {
    for (const size_t dim : {1, 3, 8}) {
      const auto h = static_cast<int64_t>(heads), d = static_cast<int64_t>(dim);
      check_gradients({.op = [&](const auto& x) { return ops::split_heads(x[0], h); },
                       .reference = [&](const auto& x) { return split(x[0], 4, heads, dim); },
                       .inputs = {random_tensor({4, h * d}, 1)},
                       .forward_tolerance = 0},
                      2);
      check_gradients({.op = [&](const auto& x) { return ops::merge_heads(x[0]); },
                       // Merging [heads, rows] is splitting with the roles exchanged.
                       .reference = [&](const auto& x) { return split(x[0], heads, 4, dim); },
                       .inputs = {random_tensor({h, 4, d}, 1)},
                       .forward_tolerance = 0},
                      2);
    }
  }
}

TEST(Heads, MergeUndoesSplitForLargeInputs) {
  const Value x = random_tensor({500, 12 * 64}, 1);  // several threads
  const Value back = ops::merge_heads(ops::split_heads(x, 12));
  EXPECT_TRUE(all_close(back.tensor, support::to_doubles(x.tensor), 0));
}

TEST(Reshape, SharesElementsAndShapesGradientsBack) {
  const Tensor x = random_tensor({3, 4}, 1);
  EXPECT_EQ(ops::reshape(x, {2, 6}).tensor.raw(), x.raw());
  check_gradients({.op =
                       [](const auto& v) {
                         return ops::reshape(v[0], {2, 2, 3});
                       },
                   .reference = [](const auto& v) { return v[0]; },
                   .inputs = {x},
                   .forward_tolerance = 0},
                  2);
}

TEST(Layout, RefusesWhatDoesNotFit) {
  const Value x = random_tensor({2, 6}, 1);
  EXPECT_THROW(ops::reshape(x, {5}), Error);
  EXPECT_THROW(ops::transpose(x, 0, 2), Error);
  EXPECT_THROW(ops::split_heads(x, 4), Error);
  EXPECT_THROW(ops::split_heads(x, 0), Error);
  EXPECT_THROW(ops::split_heads(random_tensor({2, 3, 4}, 1), 2), Error);
  EXPECT_THROW(ops::merge_heads(x), Error);
}

}  // namespace
}  // namespace fovea
