#include "fovea/ops/slice.h"

#include <gtest/gtest.h>

#include "support/gradient_check.h"

namespace fovea {
namespace {

using support::check_gradients;
using support::Doubles;
using support::random_tensor;

// Index of an element along each axis.
std::vector<int64_t> place_of(int64_t index, const Shape& shape) {
  std::vector<int64_t> place(static_cast<size_t>(shape.rank()));
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    place[static_cast<size_t>(axis)] = index % shape[axis];
    index /= shape[axis];
  }
  return place;
}

TEST(Slice, MatchesDoubleWithItsGradientOnEveryAxis) {
  const Shape shape{3, 4, 5};
  for (int axis = 0; axis < 3; ++axis) {
    for (int64_t begin = 0; begin <= shape[axis]; ++begin) {
      for (int64_t end = begin + 1; end <= shape[axis]; ++end) {
        const auto reference = [&](const auto& x) {
          Doubles result;
          for (int64_t i = 0; i < shape.elements(); ++i) {
            const int64_t at = place_of(i, shape)[static_cast<size_t>(axis)];
            if (at >= begin && at < end) result.push_back(x[0][static_cast<size_t>(i)]);
          }
          return result;
        };
        const int named = begin % 2 == 0 ? axis : axis - 3;  // also counted from the end
        check_gradients({.op = [&](const auto& x) { return ops::slice(x[0], named, begin, end); },
                         .reference = reference,
                         .inputs = {random_tensor(shape, static_cast<uint64_t>(axis) + 1)}},
                        7);
      }
    }
  }
}

TEST(Concat, MatchesDoubleWithItsGradientsOnEveryAxis) {
  for (int axis = 0; axis < 3; ++axis) {
    std::vector<Tensor> parts;
    for (int64_t i = 0; i < 3; ++i) {
      std::vector<int64_t> sizes{2, 3, 4};
      sizes[static_cast<size_t>(axis)] = i + 1;
      parts.push_back(random_tensor(Shape(sizes), static_cast<uint64_t>(10 * axis + i)));
    }
    const auto reference = [&](const auto& x) {
      std::vector<int64_t> sizes{2, 3, 4};
      sizes[static_cast<size_t>(axis)] = 6;
      const Shape whole(sizes);
      std::vector<size_t> next(3);  // parts are read in order, so each has a cursor
      Doubles result;
      for (int64_t i = 0; i < whole.elements(); ++i) {
        const int64_t at = place_of(i, whole)[static_cast<size_t>(axis)];
        const size_t part = at < 1 ? 0 : (at < 3 ? 1 : 2);
        result.push_back(x[part][next[part]++]);
      }
      return result;
    };
    check_gradients({.op = [&](const auto& x) { return ops::concat(x, axis); },
                     .reference = reference,
                     .inputs = parts},
                    static_cast<uint64_t>(axis));
  }
}

TEST(Concat, SameValueTwiceGetsBothGradients) {
  check_gradients({.op =
                       [](const auto& x) {
                         return ops::concat({x[0], x[0]}, -1);
                       },
                   .reference =
                       [](const auto& x) {
                         Doubles result = x[0];
                         result.insert(result.end(), x[0].begin(), x[0].end());
                         return result;
                       },
                   .inputs = {random_tensor({4}, 1)}},
                  2);
}

TEST(SliceAndConcat, RefuseWhatDoesNotFit) {
  const Value x = random_tensor({2, 3}, 1);
  EXPECT_THROW(ops::slice(x, 2, 0, 1), Error);
  EXPECT_THROW(ops::slice(x, -3, 0, 1), Error);
  EXPECT_THROW(ops::slice(x, 1, -1, 1), Error);
  EXPECT_THROW(ops::slice(x, 1, 2, 1), Error);
  EXPECT_THROW(ops::slice(x, 1, 0, 4), Error);
  EXPECT_THROW(ops::concat(std::vector<Value>{}, 0), Error);
  EXPECT_THROW(ops::concat({x, Value(random_tensor({2, 4}, 2))}, 0), Error);
  EXPECT_THROW(ops::concat({x, Value(random_tensor({2}, 2))}, 0), Error);
  EXPECT_EQ(ops::slice(x, 1, 2, 2).tensor.elements(), 0);
}

}  // namespace
}  // namespace fovea
