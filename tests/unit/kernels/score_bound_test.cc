#include "fovea/kernels/score_bound.h"

#include <gtest/gtest.h>

#include "support/attention_cases.h"
#include "support/sanitized.h"

namespace fovea {
namespace {

// Every kind of rule; scores up to about 60, where bounds are loose and rounding counts.
TEST(ScoreBound, NoScoreOfTheBlockIsLarger) {
  for (uint32_t seed = 0; seed < support::cases(24); ++seed) {
    const support::AttentionCase c = support::random_case(seed, 400, seed % 2 == 0 ? 1.0 : 20.0);
    SCOPED_TRACE(c.name);
    const AttentionInputs inputs{HeadsView::of(c.queries), HeadsView::of(c.keys), {}, &c.rule};
    const support::DenseAttention dense = support::dense_attention(c);
    const int64_t head = c.shape.heads - 1;
    const KeyRange columns{c.shape.cols / 7, c.shape.cols};
    const HeadRule rule(inputs, head, columns);
    const Panels keys = Panels::of_keys(inputs.keys, c.shape.kv_head(head), columns);
    const ScoreBound bound(rule, keys);
    std::vector<float> query(size_t(c.shape.head_dim));
    for (int64_t i = 0; i < c.shape.rows; i += 5) {
      inputs.queries.read_row(head, i, c.rule.scale, query.data());
      double square = 0;
      for (const float x : query) square += double{x} * double{x};
      for (int64_t j = columns.begin; j < columns.end; ++j) {
        const double score = dense.scores[size_t(head)][size_t(i * c.shape.cols + j)];
        const int64_t block = (j - columns.begin) / ScoreBound::kBlockKeys;
        ASSERT_LE(score, double{bound.of(query.data(), float(std::sqrt(square)), i, block)});
      }
    }
  }
}

TEST(ScoreBound, IsTightForKeysThatAreAlike) {
  support::AttentionCase c;
  c.shape = {1, 1, 1, 512, 16, 0};
  c.queries = Tensor(Shape{1, 1, 16});
  c.keys = Tensor(Shape{1, 512, 16});
  c.queries.mutable_matrix<float>(0)(0, 3) = 2;
  for (int64_t j = 0; j < 512; ++j) c.keys.mutable_matrix<float>(0)(j, 3) = j < 256 ? -50 : 50;
  const AttentionInputs inputs{HeadsView::of(c.queries), HeadsView::of(c.keys), {}, &c.rule};
  const HeadRule rule(inputs, 0, {0, 512});
  const ScoreBound bound(rule, Panels::of_keys(inputs.keys, 0, {0, 512}));
  // The scores are -100 and 100; the room for rounding is 1e-4 of them.
  EXPECT_NEAR(bound.of(c.queries.values<float>().data(), 2, 0, 0), -100, 0.011);
  EXPECT_NEAR(bound.of(c.queries.values<float>().data(), 2, 0, 1), 100, 0.011);
}

}  // namespace
}  // namespace fovea
