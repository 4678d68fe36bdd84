#include "fovea/explain/alignment/cross_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/errors.h"
#include "unit/explain/cross_records.h"

namespace fovea {
namespace {

using support::AttentionCase;
using support::dense_attention;
using support::DenseAttention;
using support::random_cross_layers;
using support::random_cross_record;
using ::testing::ElementsAre;

// Weights in double, and sum_h A_h(i, j) f_h(x_j) as a vector, element by element.
struct Naive {
  const AttentionRecord& record;
  DenseAttention dense;

  explicit Naive(const AttentionRecord& r) : record(r) {
    AttentionCase c;
    c.shape = r.shape();
    c.rule = r.rule;
    c.queries = r.queries;
    c.keys = r.keys;
    c.values = r.values;
    dense = dense_attention(c);
  }
  double weight(int64_t head, int64_t i, int64_t j) const {
    return dense.weights[size_t(head)][size_t(i * record.shape().cols + j)];
  }
  double transformed(int64_t head, int64_t j, int64_t out) const {
    const AttentionShape shape = record.shape();
    double sum = 0;
    for (int64_t d = 0; d < shape.value_dim; ++d) {
      sum += double{record.values.matrix<float>(shape.kv_head(head))(j, d)} *
             double{record.block->output_weight.matrix<float>()(out, head * shape.value_dim + d)};
    }
    return sum;
  }
  // Of the heads [first, last).
  double norm(int64_t first, int64_t last, int64_t i, int64_t j) const {
    double square = 0;
    for (int64_t out = 0; out < record.block->output_weight.size(0); ++out) {
      double sum = 0;
      for (int64_t head = first; head < last; ++head) {
        sum += weight(head, i, j) * transformed(head, j, out);
      }
      square += sum * sum;
    }
    return std::sqrt(square);
  }
};

class CrossWeights : public ::testing::TestWithParam<AttentionShape> {};

TEST_P(CrossWeights, EqualNaiveLoopsInDouble) {
  const AttentionShape shape = GetParam();
  const auto record =
      std::make_shared<const AttentionRecord>(random_cross_record(7, 3, shape, /*width=*/12));
  const Naive naive(*record);
  const CrossLayer layer(record);
  EXPECT_EQ(layer.layer(), 3);
  ASSERT_EQ(layer.heads(), shape.heads);
  const Matrix mean = layer.mean_weights();
  const Matrix norms = layer.layer_norms();
  // Weights are within 1e-6 (docs/numerics.md); norms are up to 10 times them, with f(x) in f32.
  for (int64_t i = 0; i < shape.rows; ++i) {
    for (int64_t j = 0; j < shape.cols; ++j) {
      double sum = 0;
      for (int64_t head = 0; head < shape.heads; ++head) {
        sum += naive.weight(head, i, j);
        ASSERT_NEAR(layer.head_weights(head)(i, j), naive.weight(head, i, j), 1e-6);
        ASSERT_NEAR(layer.head_norms(head)(i, j), naive.norm(head, head + 1, i, j), 2e-5);
      }
      ASSERT_NEAR(mean(i, j), sum / double(shape.heads), 1e-6);
      ASSERT_NEAR(norms(i, j), naive.norm(0, shape.heads, i, j), 2e-5);
    }
  }
}

// heads, key heads, rows, columns, head size, value size; more columns than one block at the end.
INSTANTIATE_TEST_SUITE_P(Shapes, CrossWeights,
                         ::testing::Values(AttentionShape{1, 1, 1, 1, 4, 4},
                                           AttentionShape{3, 3, 7, 9, 8, 8},
                                           AttentionShape{4, 2, 5, 6, 8, 3},
                                           AttentionShape{6, 1, 4, 11, 16, 16},
                                           AttentionShape{2, 2, 3, 150, 8, 8}));

TEST(CrossLayer, NormsNeedValuesAndBlock) {
  AttentionRecord record = random_cross_record(1, 0, {2, 2, 3, 3, 4, 4}, 8);
  record.block.reset();
  const CrossLayer layer(std::make_shared<const AttentionRecord>(record));
  EXPECT_FALSE(layer.has_norms());
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "cross.0 was captured without the block",
                         [&] { layer.layer_norms(); }));
  record.values = Tensor();
  const CrossLayer bare(std::make_shared<const AttentionRecord>(record));
  EXPECT_TRUE(
      fails_with(ErrorKind::kInvalidArgument, "without values", [&] { bare.head_norms(0); }));
  EXPECT_EQ(bare.mean_weights().rows(), 3);
}

TEST(CrossLayer, RefusesAHeadThatIsNotThere) {
  const auto layers = random_cross_layers(1, 1, {2, 2, 3, 3, 4, 4}, 8);
  for (const int64_t head : {-1, 2}) {
    EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "2 heads are 0 to 1",
                           [&] { layers[0].head_weights(head); }));
    EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "2 heads are 0 to 1",
                           [&] { layers[0].head_norms(head); }));
  }
}

TEST(CrossLayer, TheMeanOfAllCountsEveryHeadOnce) {
  const auto layers = random_cross_layers(2, 3, {2, 2, 3, 4, 4, 4}, 8);
  const Matrix mean = mean_weights(layers);
  for (int64_t i = 0; i < 3; ++i) {
    for (int64_t j = 0; j < 4; ++j) {
      double sum = 0;
      for (const CrossLayer& layer : layers) {
        for (int64_t head = 0; head < 2; ++head) sum += layer.head_weights(head)(i, j);
      }
      EXPECT_NEAR(mean(i, j), sum / 6, 1e-15);  // the same doubles, in another order
    }
  }
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "no layer", [] { mean_weights({}); }));
  std::vector<CrossLayer> mixed = layers;
  mixed.push_back(random_cross_layers(2, 1, {2, 2, 5, 4, 4, 4}, 8)[0]);
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "5 x 4", [&] { mean_weights(mixed); }));
}

TEST(CrossLayers, ComeFromTheRunInTheOrderOfLayers) {
  fovea::Run run;
  run.model = "a model";
  EXPECT_TRUE(fails_with(ErrorKind::kNotFound, "no cross-attention", [&] { cross_layers(run); }));
  for (const int layer : {2, 0, 1}) {
    run.records.push_back(std::make_shared<const AttentionRecord>(
        random_cross_record(1, layer, {1, 1, 2, 2, 4, 4}, 4)));
  }
  AttentionRecord other = random_cross_record(1, 0, {1, 1, 2, 2, 4, 4}, 4);
  other.site = {SiteKind::kDecoderSelf, 0};
  run.records.push_back(std::make_shared<const AttentionRecord>(other));
  const auto layers = cross_layers(run);
  ASSERT_EQ(layers.size(), 3u);
  for (int layer = 0; layer < 3; ++layer) EXPECT_EQ(layers[size_t(layer)].layer(), layer);
}

// The decoder reads start, y0, y1: row 0 predicts y0, row 1 reads it.
TEST(ReadRows, InputIsOneRowAfterOutput) {
  const Matrix rows{{10, 11}, {20, 21}, {30, 31}};
  EXPECT_EQ(read_rows(rows, TargetReading::kOutput, {.pieces = 2}), (Matrix{{10, 11}, {20, 21}}));
  EXPECT_EQ(read_rows(rows, TargetReading::kInput, {.pieces = 2}), (Matrix{{20, 21}, {30, 31}}));
  EXPECT_EQ(read_rows(rows, TargetReading::kOutput, {.pieces = 3}), rows);
  EXPECT_EQ(read_rows(rows, TargetReading::kInput, {.pieces = 1, .prefix = 2}), (Matrix{{30, 31}}));
  EXPECT_EQ(read_rows(rows, TargetReading::kOutput, {.pieces = 1, .prefix = 2}),
            (Matrix{{20, 21}}));
  EXPECT_EQ(read_rows(rows, TargetReading::kInput, {.pieces = 0}).rows(), 0);
}

TEST(ReadRows, RefusesTokensThatHaveNoRow) {
  const Matrix rows(3, 2);
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "3 target tokens",
                         [&] { read_rows(rows, TargetReading::kInput, {.pieces = 3}); }));
  for (const TargetRows bad : {TargetRows{-1, 1}, TargetRows{1, 0}, TargetRows{1, 9},
                               TargetRows{INT64_MAX, 1}, TargetRows{1, INT64_MIN}}) {
    EXPECT_TRUE(fails_cleanly([&] { read_rows(rows, TargetReading::kOutput, bad); }));
  }
}

TEST(ReadRows, ReadingsHaveNames) {
  for (const TargetReading reading : {TargetReading::kInput, TargetReading::kOutput}) {
    EXPECT_EQ(kTargetReadings.named(kTargetReadings.name_of(reading)), reading);
  }
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "input, output",
                         [] { kTargetReadings.named("awi"); }));
}

}  // namespace
}  // namespace fovea
