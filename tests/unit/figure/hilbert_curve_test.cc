#include "fovea/figure/hilbert_curve.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

namespace fovea {
namespace {

TEST(HilbertOrder, GoesThroughEveryCellOfAnyGridOnceAndNeverFurtherThanToANeighbour) {
  for (int64_t rows = 1; rows <= 20; ++rows) {
    for (int64_t cols = 1; cols <= 20; ++cols) {
      const std::vector<int64_t> order = hilbert_order(rows, cols);
      ASSERT_EQ(std::ssize(order), rows * cols) << rows << " x " << cols;
      EXPECT_EQ(order.front(), 0);
      EXPECT_EQ(std::set<int64_t>(order.begin(), order.end()).size(), order.size());
      for (size_t i = 1; i < order.size(); ++i) {
        EXPECT_LE(std::abs(order[i] / cols - order[i - 1] / cols), 1) << rows << " x " << cols;
        EXPECT_LE(std::abs(order[i] % cols - order[i - 1] % cols), 1) << rows << " x " << cols;
      }
    }
  }
  EXPECT_TRUE(hilbert_order(0, 5).empty());
}

TEST(HilbertOrder, HasSquaresOneAfterTheOtherWhereSidesArePowersOfTwo) {
  constexpr int64_t kSide = 32;
  const std::vector<int64_t> order = hilbert_order(kSide, kSide);
  for (int64_t side = 2; side <= kSide; side *= 2) {
    for (size_t begin = 0; begin < order.size(); begin += size_t(side * side)) {
      std::set<int64_t> squares;
      for (size_t i = begin; i < begin + size_t(side * side); ++i) {
        squares.insert(order[i] / kSide / side * kSide + order[i] % kSide / side);
      }
      EXPECT_EQ(squares.size(), 1U) << "cells from " << begin << " on, side " << side;
    }
  }
}

}  // namespace
}  // namespace fovea
