#include "fovea/kernels/attention_pool.h"

#include <gtest/gtest.h>

#include "fovea/kernels/attention_tile.h"
#include "support/records.h"
#include "support/simd_targets.h"

namespace fovea {
namespace {

// One head with the weights that HeadTiles gives, which other tests hold against double.
struct Head {
  Head(const support::AttentionCase& c, KeyRange cols)
      : record(support::record_of(c)),
        columns(cols),
        rows(c.shape.rows),
        inputs{HeadsView::of(record.queries), HeadsView::of(record.keys), {}, &record.rule},
        lse(record.lse.values<double>().subspan(size_t((c.shape.heads - 1) * rows), size_t(rows))),
        weights(Shape{rows, columns.end - columns.begin}),
        head(c.shape.heads - 1) {
    HeadTiles(inputs, head, columns).weights(0, columns, lse, weights.mutable_matrix<float>());
  }

  // Of the rows [begin, end) and column block `block`.
  std::pair<float, double> pooled(int64_t begin, int64_t end, int64_t block, int64_t bin) const {
    float largest = 0;
    double sum = 0;
    for (int64_t i = begin; i < std::min(end, rows); ++i) {
      for (int64_t j = block * bin; j < std::min((block + 1) * bin, weights.size(1)); ++j) {
        largest = std::max(largest, weights.matrix<float>()(i, j));
        sum += double{weights.matrix<float>()(i, j)};
      }
    }
    return {largest, sum};
  }

  AttentionRecord record;
  KeyRange columns;
  int64_t rows;
  AttentionInputs inputs;
  std::span<const double> lse;
  Tensor weights;
  int64_t head;
};

// Up to 700 weights of a row, at most 1 together, are added in f32 in several parts.
constexpr double kRowTolerance = 2e-6;

void expect_blocks_equal_the_weights(const Head& h, int64_t bin) {
  const int64_t row_blocks = (h.rows + bin - 1) / bin;
  const int64_t col_blocks = (h.weights.size(1) + bin - 1) / bin;
  Tensor max(Shape{row_blocks, col_blocks});
  std::vector<double> sum(size_t(row_blocks * col_blocks), 0.0);
  const HeadPools pools(h.inputs, h.head, h.columns);
  const MatrixView<double> sums(sum.data(), row_blocks, col_blocks);
  pools.add_blocks(0, h.lse, bin, max.mutable_matrix<float>(), sums);
  for (int64_t r = 0; r < row_blocks; ++r) {
    for (int64_t c = 0; c < col_blocks; ++c) {
      const auto [largest, total] = h.pooled(r * bin, (r + 1) * bin, c, bin);
      ASSERT_EQ(max.matrix<float>()(r, c), largest) << "bin " << bin;
      ASSERT_NEAR(sums(r, c), total, kRowTolerance * double(bin)) << "bin " << bin;
    }
  }
}

// Of each column alone.
void expect_columns_equal_the_weights(const Head& h, int64_t bin) {
  const int64_t row_blocks = (h.rows + bin - 1) / bin, cols = h.weights.size(1);
  Tensor max(Shape{row_blocks, cols}), sum(Shape{row_blocks, cols});
  HeadPools(h.inputs, h.head, h.columns)
      .add_columns(0, h.lse, bin, max.mutable_matrix<float>(), sum.mutable_matrix<float>());
  for (int64_t r = 0; r < row_blocks; ++r) {
    for (int64_t c = 0; c < cols; ++c) {
      const auto [largest, total] = h.pooled(r * bin, (r + 1) * bin, c, 1);
      ASSERT_EQ(max.matrix<float>()(r, c), largest) << "bin " << bin;
      ASSERT_NEAR(sum.matrix<float>()(r, c), total, kRowTolerance * double(bin)) << "bin " << bin;
    }
  }
}

void expect_rows_equal_the_weights(const Head& h, int64_t bin) {
  std::vector<int64_t> rows;
  std::vector<double> lse;
  for (int64_t i = h.rows / 9; i < h.rows; i += 1 + i % 7) {
    rows.push_back(i);
    lse.push_back(h.lse[size_t(i)]);
  }
  const auto count = int64_t(rows.size());
  const int64_t col_blocks = (h.weights.size(1) + bin - 1) / bin;
  Tensor max(Shape{count, col_blocks});
  std::vector<double> sum(size_t(count * col_blocks), 0.0);
  const MatrixView<double> sums(sum.data(), count, col_blocks);
  HeadPools(h.inputs, h.head, h.columns)
      .add_rows(rows, lse, bin, max.mutable_matrix<float>(), sums);
  for (int64_t r = 0; r < count; ++r) {
    for (int64_t c = 0; c < col_blocks; ++c) {
      const auto [largest, total] = h.pooled(rows[size_t(r)], rows[size_t(r)] + 1, c, bin);
      ASSERT_EQ(max.matrix<float>()(r, c), largest) << "bin " << bin;
      ASSERT_NEAR(sums(r, c), total, kRowTolerance) << "bin " << bin;
    }
  }
}

TEST(HeadPools, EqualTheWeightsForEveryRuleOnEverySimdTarget) {
  support::for_each_simd_target([] {
    for (uint32_t seed = 100; seed < 130; ++seed) {
      const support::AttentionCase c = support::random_case(seed, 300, 2);
      SCOPED_TRACE(c.name);
      const Head h(c, {c.shape.cols / 5, c.shape.cols});
      for (const int64_t bin : {1, 5, 64}) {
        expect_blocks_equal_the_weights(h, bin);
        expect_columns_equal_the_weights(h, bin);
      }
      expect_rows_equal_the_weights(h, 33);
    }
  });
}

TEST(HeadPools, EqualTheWeightsWherePartsAreSeenWhollyAndInPart) {
  for (const bool causal : {false, true}) {
    const Head h(support::plain_case(700, 32, causal, 5), {0, 700});
    for (const int64_t bin : {2, 12, 16, 100, 1000}) {
      expect_blocks_equal_the_weights(h, bin);
      expect_rows_equal_the_weights(h, bin);
    }
  }
}

// Scores of up to some hundreds: most parts of a row are 0 in f32, and are left out.
TEST(HeadPools, LeavingOutPartsThatVanishChangesNothing) {
  support::AttentionCase c = support::plain_case(1100, 16, false, 7);
  for (int64_t j = 0; j < 1100; ++j) {  // four runs of keys, each near a direction of its own
    c.keys.mutable_matrix<float>(0)(j, j / 300) += 150;
    c.queries.mutable_matrix<float>(0)(j, j / 300) += 20;
  }
  const Head sharp(c, {0, 1100});
  EXPECT_EQ(sharp.pooled(0, 250, 3, 300).first, 0);  // the case is what it says
  EXPECT_GT(sharp.pooled(0, 250, 0, 300).first, 0);
  c = support::plain_case(1500, 16, true, 8);
  c.rule.bias = AlibiSlopes{{0.5F}};
  const Head near(c, {0, 1500});
  EXPECT_EQ(near.pooled(1200, 1500, 0, 256).first, 0);
  for (const int64_t bin : {64, 300}) {
    expect_blocks_equal_the_weights(sharp, bin);
    expect_blocks_equal_the_weights(near, bin);
    expect_rows_equal_the_weights(sharp, bin);
    expect_rows_equal_the_weights(near, bin);
  }
}

}  // namespace
}  // namespace fovea
