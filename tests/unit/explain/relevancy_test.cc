#include "fovea/explain/relevancy.h"

#include <gtest/gtest.h>

#include "fovea/attention/matrix.h"
#include "support/errors.h"
#include "support/records.h"

namespace fovea {
namespace {

using support::AttentionCase;

// f32 weights and slopes, some layers of them, against the same in double.
constexpr double kRelevancyTolerance = 2e-5;

struct LayerCase {
  SiteId site;
  int64_t rows = 0;
  int64_t cols = 0;
  bool causal = false;
  std::vector<int64_t> dead;  // rows whose slopes are below 0 in all heads
  double slope = 1;           // size of the output gradient
};

// Values are above 0, so that a gradient below 0 makes every slope of its row so.
std::shared_ptr<const AttentionRecord> layer(const LayerCase& of, uint32_t seed) {
  std::mt19937 random(seed);
  AttentionCase c;
  c.shape = {4, 2, of.rows, of.cols, 8, 6};
  c.rule.scale = 0.4F;
  if (of.causal) c.rule.mask = Mask::causal();
  c.queries = support::random_heads(random, {4, of.rows, 8}, 1, DType::kF32);
  c.keys = support::random_heads(random, {2, of.cols, 8}, 1, DType::kF32);
  c.values = support::random_heads(random, {2, of.cols, 6}, 1, DType::kF32);
  for (float& value : c.values.mutable_values<float>()) value = std::abs(value);
  AttentionRecord record = support::record_of(c, of.site);
  record.output_gradient = support::random_heads(random, {4, of.rows, 6}, of.slope, DType::kF32);
  for (const int64_t row : of.dead) {
    for (int64_t head = 0; head < 4; ++head) {
      float* slopes = record.output_gradient.mutable_matrix<float>(head).row(row);
      for (int64_t f = 0; f < 6; ++f) slopes[f] = -std::abs(slopes[f]);
    }
  }
  return std::make_shared<const AttentionRecord>(std::move(record));
}

Matrix identity(int64_t size) {
  Matrix matrix(size, size);
  for (int64_t i = 0; i < size; ++i) matrix(i, i) = 1;
  return matrix;
}

Matrix times(const Matrix& a, const Matrix& b) {
  Matrix product(a.rows(), b.cols());
  for (int64_t i = 0; i < a.rows(); ++i) {
    for (int64_t k = 0; k < a.cols(); ++k) {
      for (int64_t j = 0; j < b.cols(); ++j) product(i, j) += a(i, k) * b(k, j);
    }
  }
  return product;
}

Matrix plus(Matrix a, const Matrix& b) {
  for (int64_t i = 0; i < a.rows(); ++i) {
    for (int64_t j = 0; j < a.cols(); ++j) a(i, j) += b(i, j);
  }
  return a;
}

Matrix transposed(const Matrix& a) {
  Matrix result(a.cols(), a.rows());
  for (int64_t i = 0; i < a.rows(); ++i) {
    for (int64_t j = 0; j < a.cols(); ++j) result(j, i) = a(i, j);
  }
  return result;
}

// E by its definition.
Matrix dense(const AttentionRecord& record) {
  AttentionCase c;
  c.shape = record.shape();
  c.rule = record.rule;
  c.queries = record.queries;
  c.keys = record.keys;
  c.values = record.values;
  const support::DenseAttention attention = support::dense_attention(c);
  Matrix mean(c.shape.rows, c.shape.cols);
  for (int64_t h = 0; h < c.shape.heads; ++h) {
    for (int64_t i = 0; i < c.shape.rows; ++i) {
      for (int64_t j = 0; j < c.shape.cols; ++j) {
        double slope = 0;
        for (int64_t f = 0; f < c.shape.value_dim; ++f) {
          slope += double{record.output_gradient.matrix<float>(h)(i, f)} *
                   double{c.values.matrix<float>(c.shape.kv_head(h))(j, f)};
        }
        const double weight = attention.weights[size_t(h)][size_t(i * c.shape.cols + j)];
        mean(i, j) += std::max(0.0, weight * slope) / double(c.shape.heads);
      }
    }
  }
  return mean;
}

Matrix dense_stack(const LayerRecords& layers, int64_t positions) {
  Matrix product = identity(positions);
  for (const auto& record : layers) product = plus(product, times(dense(*record), product));
  return product;
}

// N(R); `zero` tells whether a row of R - I sums to 0.
Matrix normalised(Matrix matrix, bool& zero) {
  for (int64_t i = 0; i < matrix.rows(); ++i) {
    matrix(i, i) -= 1;
    double sum = 0;
    for (int64_t j = 0; j < matrix.cols(); ++j) sum += matrix(i, j);
    for (int64_t j = 0; j < matrix.cols(); ++j) matrix(i, j) = sum > 0 ? matrix(i, j) / sum : 0;
    zero = zero || sum == 0;
    matrix(i, i) += 1;
  }
  return matrix;
}

// R_qi, layer after layer as the paper has it.
Matrix dense_cross(const RelevancyStacks& stacks, bool drop) {
  const AttentionShape shape = stacks.cross.front()->shape();
  const Matrix encoder = dense_stack(stacks.encoder, shape.cols);
  Matrix own = identity(shape.rows), cross(shape.rows, shape.cols);
  for (int at = 0; at < 3; ++at) {
    for (const auto& record : stacks.decoder) {
      if (record->site.layer != at) continue;
      const Matrix mean = dense(*record);
      own = plus(own, times(mean, own));
      cross = plus(cross, times(mean, cross));
    }
    for (const auto& record : stacks.cross) {
      if (record->site.layer != at) continue;
      bool zero = false;
      const Matrix of_own = normalised(own, zero);
      const Matrix of_encoder = normalised(encoder, zero);
      if (drop && zero) continue;
      cross = plus(cross, times(times(transposed(of_own), dense(*record)), of_encoder));
    }
  }
  return cross;
}

void expect_row(const std::vector<double>& found, const Matrix& expected, int64_t row) {
  ASSERT_EQ(int64_t(found.size()), expected.cols());
  double most = 0;
  for (int64_t j = 0; j < expected.cols(); ++j) most = std::max(most, expected(row, j));
  for (int64_t j = 0; j < expected.cols(); ++j) {
    EXPECT_NEAR(found[size_t(j)], expected(row, j), kRelevancyTolerance * most) << "column " << j;
  }
}

std::vector<double> one_hot(int64_t size, int64_t at) {
  std::vector<double> vector(static_cast<size_t>(size));
  vector[size_t(at)] = 1;
  return vector;
}

RelevancyStacks stacks_of(const std::vector<int64_t>& dead_steps,
                          const std::vector<int64_t>& dead_source, double slope = 1) {
  RelevancyStacks stacks;
  for (int at = 0; at < 2; ++at) {
    stacks.encoder.push_back(
        layer({{SiteKind::kEncoderSelf, at}, 13, 13, false, dead_source, slope}, 10 + at));
  }
  for (int at = 0; at < 3; ++at) {
    // A row is dead in the first layer only, unless nothing else would follow.
    stacks.decoder.push_back(layer({{SiteKind::kDecoderSelf, at},
                                    9,
                                    9,
                                    true,
                                    at == 0 ? dead_steps : std::vector<int64_t>(),
                                    slope},
                                   20 + at));
    stacks.cross.push_back(layer({{SiteKind::kCross, at}, 9, 13, false, {}, slope}, 30 + at));
  }
  return stacks;
}

TEST(Relevancy, OfEveryRowOfOneStackIsThatOfTheDenseProduct) {
  LayerRecords layers;
  for (int at = 0; at < 4; ++at) {
    layers.push_back(layer({{SiteKind::kSelf, at}, 37, 37, true, {3, 7}}, 40 + at));
  }
  const Matrix expected = dense_stack(layers, 37);
  for (const int64_t row : {0, 3, 20, 36}) {
    std::vector<double> r = one_hot(37, row);
    for (size_t at = layers.size(); at-- > 0;) pass_relevancy(*layers[at], r);
    expect_row(r, expected, row);
  }
}

TEST(Relevancy, OfTwoStacksIsThePapersRule) {
  const RelevancyStacks stacks = stacks_of({}, {});
  const Matrix expected = dense_cross(stacks, false);
  for (int64_t row = 0; row < 9; ++row) {
    const CrossRelevancy found = cross_relevancy(stacks, one_hot(9, row), ZeroRows::kIdentity);
    expect_row(found.source, expected, row);
  }
}

TEST(Relevancy, RowsOfZerosStayTheIdentityOrDropTheLayer) {
  for (const auto& [steps, source, dropped] :
       {std::tuple{std::vector<int64_t>{2, 5}, std::vector<int64_t>{}, int64_t{1}},
        std::tuple{std::vector<int64_t>{}, std::vector<int64_t>{4}, int64_t{3}}}) {
    const RelevancyStacks stacks = stacks_of(steps, source);
    const Matrix kept = dense_cross(stacks, false), without = dense_cross(stacks, true);
    double apart = 0;
    for (int64_t j = 0; j < 13; ++j) apart += std::abs(kept(6, j) - without(6, j));
    ASSERT_GT(apart, 1e-3);  // or the case would say nothing
    const CrossRelevancy found = cross_relevancy(stacks, one_hot(9, 6), ZeroRows::kIdentity);
    expect_row(found.source, kept, 6);
    EXPECT_EQ(found.zero_layers, dropped);
    expect_row(cross_relevancy(stacks, one_hot(9, 6), ZeroRows::kDropsLayer).source, without, 6);
  }
}

// Beside 1 a slope of 1e-9 is nothing, but N(R) makes shares of it.
TEST(Relevancy, OfSmallGradientsKeepsItsDigits) {
  const RelevancyStacks stacks = stacks_of({}, {}, 1e-9);
  const Matrix expected = dense_cross(stacks, false);
  expect_row(cross_relevancy(stacks, one_hot(9, 8), ZeroRows::kIdentity).source, expected, 8);
}

TEST(Relevancy, GoesOnWithoutLayersThatHaveNoGradient) {
  RelevancyStacks stacks = stacks_of({}, {});
  stacks.decoder.erase(stacks.decoder.begin());
  stacks.cross.erase(stacks.cross.begin() + 1);
  const Matrix expected = dense_cross(stacks, false);
  expect_row(cross_relevancy(stacks, one_hot(9, 8), ZeroRows::kIdentity).source, expected, 8);
}

TEST(Relevancy, OfSeveralRowsIsTheirSum) {
  const RelevancyStacks stacks = stacks_of({}, {});
  std::vector<double> rows(9);
  rows[2] = 0.25;
  rows[7] = 0.75;
  const auto both = cross_relevancy(stacks, rows, ZeroRows::kIdentity).source;
  const auto two = cross_relevancy(stacks, one_hot(9, 2), ZeroRows::kIdentity).source;
  const auto seven = cross_relevancy(stacks, one_hot(9, 7), ZeroRows::kIdentity).source;
  for (size_t j = 0; j < both.size(); ++j) {
    EXPECT_NEAR(both[j], 0.25 * two[j] + 0.75 * seven[j], 1e-5 * both[j]);
  }
}

TEST(RowsRead, AreThoseWithAGradient) {
  AttentionRecord record = *layer({{SiteKind::kSelf, 0}, 6, 6}, 1);
  record.output_gradient = Tensor(record.output_gradient.shape());
  EXPECT_EQ(rows_read(record), std::vector<double>(6));
  record.output_gradient.mutable_matrix<float>(3)(2, 5) = 1e-20F;
  EXPECT_EQ(rows_read(record), one_hot(6, 2));
  record.output_gradient.mutable_matrix<float>(0)(4, 0) = -1;
  EXPECT_EQ(rows_read(record), (std::vector<double>{0, 0, 0.5, 0, 0.5, 0}));
}

TEST(Relevancy, RefusesWhatDoesNotFit) {
  AttentionRecord record = *layer({{SiteKind::kSelf, 0}, 6, 6}, 1);
  std::vector<double> short_row(5);
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "self.0 has 6 positions",
                         [&] { pass_relevancy(record, short_row); }));
  record.output_gradient = Tensor();
  std::vector<double> row(6);
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "without an output gradient",
                         [&] { pass_relevancy(record, row); }));
  RelevancyStacks stacks = stacks_of({}, {});
  stacks.encoder.push_back(layer({{SiteKind::kEncoderSelf, 2}, 12, 12}, 3));
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "encoder_self.2 has 12 positions",
                         [&] { cross_relevancy(stacks, one_hot(9, 0), ZeroRows::kIdentity); }));
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "cross-attention",
                         [&] { cross_relevancy({}, one_hot(9, 0), ZeroRows::kIdentity); }));
}

}  // namespace
}  // namespace fovea
