#include "fovea/atlas/reordered.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "fovea/atlas/attention_map.h"
#include "support/errors.h"
#include "support/records.h"

namespace fovea {
namespace {

std::vector<int64_t> shuffled(int64_t count, std::mt19937& random) {
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::shuffle(order, random);
  return order;
}

support::AttentionCase two_head_case(std::mt19937& random, int64_t rows, int64_t cols) {
  support::AttentionCase c;
  c.shape = {4, 2, rows, cols, 8, 8};
  c.rule.scale = 0.4F;
  c.queries = support::random_heads(random, {4, rows, 8}, 1.5, DType::kF16);
  c.keys = support::random_heads(random, {2, cols, 8}, 1.5, DType::kF16);
  c.values = support::random_heads(random, {2, cols, 8}, 1, DType::kF16);
  return c;
}

// Every weight in its new place is the one of its old place.
void expect_moved(const support::AttentionCase& c, std::mt19937& random) {
  const auto rows = shuffled(c.shape.rows, random), cols = shuffled(c.shape.cols, random);
  const auto record = support::shared_record_of(c);
  const auto moved = reordered(*record, rows, cols);
  validate(*moved);
  const auto dense = support::dense_attention(c);
  for (int64_t head = 0; head < c.shape.heads; ++head) {
    const Tensor tile = AttentionMap(moved, head).tile({0, c.shape.rows, 0, c.shape.cols});
    for (int64_t i = 0; i < c.shape.rows; ++i) {
      for (int64_t j = 0; j < c.shape.cols; ++j) {
        const double wanted =
            dense.weights[size_t(head)][size_t(rows[size_t(i)] * c.shape.cols + cols[size_t(j)])];
        ASSERT_NEAR(double{tile.matrix<float>()(i, j)}, wanted, 2e-6)
            << head << ": " << i << "," << j;
        ASSERT_EQ(moved->rule.mask.allows(i, j),
                  c.rule.mask.allows(rows[size_t(i)], cols[size_t(j)]));
      }
    }
  }
}

TEST(Reordered, WeightsMoveWithTheirRowAndColumn) {
  std::mt19937 random(5);
  expect_moved(two_head_case(random, 33, 33), random);
  expect_moved(two_head_case(random, 7, 40), random);
}

TEST(Reordered, PaddingGroupsTablesAndCutsMoveToo) {
  std::mt19937 random(6);
  support::AttentionCase padded = two_head_case(random, 20, 30);
  for (int64_t j = 0; j < 30; ++j) padded.rule.mask.key_valid.push_back(j % 4 != 0);
  padded.rule.cuts = {{2, 9, -1}, {2, 10, 1}, {7, 3, 0}};
  expect_moved(padded, random);
  support::AttentionCase grouped = two_head_case(random, 20, 30);
  for (int64_t j = 0; j < 30; ++j) grouped.rule.mask.key_group.push_back(int32_t(j % 3));
  for (int64_t i = 0; i < 20; ++i) grouped.rule.mask.query_group.push_back(int32_t(i % 3));
  expect_moved(grouped, random);
  support::AttentionCase dense = two_head_case(random, 20, 30);
  DenseBias bias{.values = support::random_heads(random, {4, 20, 30}, 1, DType::kF32)};
  dense.rule.bias = bias;
  expect_moved(dense, random);
  for (int64_t i = 0; i < 20; ++i) bias.row_index.push_back(int32_t(i / 2));
  dense.rule.bias = bias;
  expect_moved(dense, random);
}

TEST(Reordered, WhatCountsHowFarPositionsAreApartKeepsItsOrder) {
  std::mt19937 random(7);
  support::AttentionCase c = two_head_case(random, 10, 10);
  const auto order = shuffled(10, random);
  EXPECT_TRUE(can_be_reordered(*support::shared_record_of(c)));
  c.rule.mask = Mask::causal();
  const auto causal = support::shared_record_of(c);
  EXPECT_FALSE(can_be_reordered(*causal));
  EXPECT_THAT(message_of([&] { reordered(*causal, order, order); }),
              ::testing::HasSubstr("counts how far positions are apart"));
  c.rule.mask = {};
  c.rule.bias = AlibiSlopes{{0.1F, 0.2F, 0.3F, 0.4F}};
  EXPECT_FALSE(can_be_reordered(*support::shared_record_of(c)));
}

}  // namespace
}  // namespace fovea
