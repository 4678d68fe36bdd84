#include "fovea/layers/attention_cache.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "fovea/base/watch.h"
#include "fovea/layers/attend.h"
#include "fovea/layers/text_mask.h"
#include "fovea/ops/slice.h"
#include "support/attention_cases.h"
#include "support/compare.h"

namespace fovea {
namespace {

using fovea::support::AttentionCase;
using fovea::support::DenseAttention;

constexpr int64_t kDim = 6;
const SiteId kSite{SiteKind::kSelf, 3};

struct Sizes {
  int64_t heads, kv_heads, tokens;
  std::optional<int64_t> window;
};

AttentionCase causal_case(const Sizes& sizes) {
  std::mt19937 random(7);
  AttentionCase c;
  c.shape = {sizes.heads, sizes.kv_heads, sizes.tokens, sizes.tokens, kDim, kDim};
  c.rule = *text_rule({}, 1 / std::sqrt(float{kDim}), {.causal = true, .window = sizes.window});
  c.queries =
      fovea::support::random_heads(random, {sizes.heads, sizes.tokens, kDim}, 1.5, DType::kF32);
  c.keys =
      fovea::support::random_heads(random, {sizes.kv_heads, sizes.tokens, kDim}, 1.5, DType::kF32);
  c.values =
      fovea::support::random_heads(random, {sizes.kv_heads, sizes.tokens, kDim}, 1, DType::kF32);
  return c;
}

Tensor rows(const Tensor& tensor, int64_t begin, int64_t end) {
  return ops::slice(tensor, 1, begin, end).tensor;
}

// Goes through the case in steps of these lengths and holds each step against the dense result.
void check_steps(const Sizes& sizes, const std::vector<int64_t>& steps) {
  const AttentionCase whole = causal_case(sizes);
  const DenseAttention dense = fovea::support::dense_attention(whole);
  AttentionCache cache;
  for (const int64_t step : steps) {
    const int64_t begin = cache.length(), end = begin + step;
    const Pass pass{.cache = &cache};
    const auto rule = text_rule(pass, whole.rule.scale, {.causal = true, .window = sizes.window});
    const Tensor output =
        cache.attend(kSite, rows(whole.queries, begin, end), rows(whole.keys, begin, end),
                     rows(whole.values, begin, end), *rule);
    cache.advance(step);
    for (int64_t head = 0; head < sizes.heads; ++head) {
      const auto& expected = dense.outputs[static_cast<size_t>(head)];
      const MatrixView<const float> found = output.matrix<float>(head);
      // Means of values around 1, weights and sums rounded to f32: some units in the last place.
      EXPECT_TRUE(
          fovea::support::all_close(std::span(found.data, static_cast<size_t>(step * kDim)),
                                    std::span(expected).subspan(static_cast<size_t>(begin * kDim),
                                                                static_cast<size_t>(step * kDim)),
                                    2e-6))
          << "head " << head << " from row " << begin;
    }
  }
  EXPECT_EQ(cache.length(), sizes.tokens);

  Recorder recorder;
  cache.record_into(recorder, "steps");
  const auto records = recorder.take();
  ASSERT_EQ(records.size(), 1U);
  const AttentionRecord& record = *records[0];
  EXPECT_EQ(record.site, kSite);
  EXPECT_EQ(record.row_axis, "steps");
  EXPECT_EQ(record.col_axis, "tokens");
  EXPECT_EQ(fovea::support::to_doubles(record.queries), fovea::support::to_doubles(whole.queries));
  EXPECT_EQ(fovea::support::to_doubles(record.keys), fovea::support::to_doubles(whole.keys));
  EXPECT_EQ(fovea::support::to_doubles(record.values), fovea::support::to_doubles(whole.values));
  EXPECT_EQ(record.rule.mask.query_offset, 0);
  for (int64_t head = 0; head < sizes.heads; ++head) {
    for (int64_t i = 0; i < sizes.tokens; ++i) {
      // Scores are products of 6 f32 numbers, summed in f32.
      EXPECT_NEAR(record.lse.matrix<double>().row(head)[i],
                  dense.lse[static_cast<size_t>(head)][static_cast<size_t>(i)], 5e-6);
    }
  }
}

TEST(AttentionCache, StepByStepEqualsAllAtOnce) {
  const std::vector<int64_t> ones(9, 1);
  for (const auto& [heads, kv_heads] :
       {std::pair{int64_t{4}, int64_t{4}}, {6, 2}, {7, 1}, {1, 1}}) {
    for (const std::optional<int64_t> window :
         {std::optional<int64_t>(), std::optional<int64_t>(1), std::optional<int64_t>(4)}) {
      for (const auto& steps : {ones, {9}, {5, 1, 1, 1, 1}, {2, 3, 4}}) {
        SCOPED_TRACE(::testing::Message() << heads << ":" << kv_heads << " window "
                                          << window.value_or(0) << " first " << steps[0]);
        check_steps({heads, kv_heads, 9, window}, steps);
      }
    }
  }
}

TEST(AttentionCache, MemoryGrowsWithTheSteps) {
  std::vector<int64_t> steps(131, 1);  // beyond twice the first capacity
  steps[0] = 60;
  check_steps({3, 1, std::accumulate(steps.begin(), steps.end(), int64_t{0}), 70}, steps);
}

TEST(AttentionCache, KeepsWhatTheRecorderWants) {
  const AttentionCase c = causal_case({2, 2, 3, std::nullopt});
  AttentionCache cache;
  cache.attend({SiteKind::kSelf, 0}, c.queries, c.keys, c.values, c.rule);
  cache.attend({SiteKind::kSelf, 1}, c.queries, c.keys, c.values, c.rule);
  Recorder recorder({.values = false, .wanted = [](SiteId site) { return site.layer == 1; }});
  cache.record_into(recorder, "tokens");
  const auto records = recorder.take();
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0]->site.layer, 1);
  EXPECT_TRUE(records[0]->values.empty());
}

// One step of one token per hypothesis, each with rows of its own, and all that it has seen.
struct Seen {
  std::vector<Tensor> queries, keys, values;  // [heads, 1, dim] each
};

TEST(AttentionCache, EachHypothesisSeesItsOwnPastOnly) {
  std::mt19937 random(3);
  const int64_t heads = 3;
  AttentionCache cache;
  std::vector<Seen> hypotheses(1);
  for (const std::vector<int64_t>& parents :
       {std::vector<int64_t>{0}, {0, 0, 0}, {2, 2, 0}, {1, 2, 0}, {0, 0, 1, 2}, {3, 1}, {1, 0}}) {
    cache.branch(parents);
    ASSERT_EQ(cache.hypotheses(), static_cast<int64_t>(parents.size()));
    std::vector<Seen> children;
    for (const int64_t parent : parents) {
      children.push_back(hypotheses[static_cast<size_t>(parent)]);
      for (auto* list :
           {&children.back().queries, &children.back().keys, &children.back().values}) {
        list->push_back(fovea::support::random_heads(random, {heads, 1, kDim}, 1.5, DType::kF32));
      }
    }
    hypotheses = std::move(children);
    const auto joined = [&](std::vector<Tensor> Seen::*list) {
      std::vector<Value> last;
      for (const Seen& seen : hypotheses) last.push_back((seen.*list).back());
      return ops::concat(last, 1).tensor;
    };
    const auto rule = text_rule({.cache = &cache}, 0.5F, {.causal = true});
    const Tensor output = cache.attend(kSite, joined(&Seen::queries), joined(&Seen::keys),
                                       joined(&Seen::values), *rule);
    cache.advance(1);
    for (size_t h = 0; h < hypotheses.size(); ++h) {
      const auto past = [&](const std::vector<Tensor>& list) {
        return ops::concat(std::vector<Value>(list.begin(), list.end()), 1).tensor;
      };
      AttentionCase alone;
      const int64_t length = cache.length();
      alone.shape = {heads, heads, length, length, kDim, kDim};
      alone.rule = *text_rule({}, 0.5F, {.causal = true});
      alone.queries = past(hypotheses[h].queries);
      alone.keys = past(hypotheses[h].keys);
      alone.values = past(hypotheses[h].values);
      const DenseAttention dense = fovea::support::dense_attention(alone);
      for (int64_t head = 0; head < heads; ++head) {
        const auto found = output.matrix<float>(head);
        const auto& expected = dense.outputs[static_cast<size_t>(head)];
        // As in check_steps.
        EXPECT_TRUE(
            fovea::support::all_close(std::span(found.row(static_cast<int64_t>(h)), size_t{kDim}),
                                      std::span(expected).last(size_t{kDim}), 2e-6))
            << "hypothesis " << h << " after " << length << " steps";
      }
    }
  }
  // The record is that of the first.
  Recorder recorder;
  cache.record_into(recorder, "steps");
  const auto records = recorder.take();
  EXPECT_EQ(records[0]->keys.matrix<float>(0).row(6)[0],
            hypotheses[0].keys.back().matrix<float>(0).row(0)[0]);
}

TEST(AttentionCache, MemoryIsMadeOnceForEachSite) {
  AttentionCache cache;
  int made = 0;
  const auto make = [&]() -> AttentionCache::Memory {
    ++made;
    return {Tensor(Shape{1, 2, 3}), Tensor(Shape{1, 2, 3})};
  };
  const float* first = cache.memory({SiteKind::kCross, 0}, make).keys.tensor.values<float>().data();
  cache.branch(std::vector<int64_t>{0, 0});
  cache.advance(1);
  EXPECT_EQ(cache.memory({SiteKind::kCross, 0}, make).keys.tensor.values<float>().data(), first);
  EXPECT_EQ(made, 1);
  cache.memory({SiteKind::kCross, 1}, make);
  EXPECT_EQ(made, 2);
}

TEST(AttentionCache, ATableOfDistancesGrowsWithTheSteps) {
  AttentionCache cache;
  const AttentionCase whole = causal_case({2, 2, 9, std::nullopt});
  DistanceTable table{Tensor(Shape{2, 8}), {}};
  float value = 0;
  for (float& entry : table.values.mutable_values<float>()) entry = value += 0.3F;
  const auto rule_at = [&](int64_t before, int64_t rows) {
    ScoreRule rule = *text_rule({.cache = &cache}, 1, {.causal = true});
    table.index = t5_bucket_index(rows, before + rows, before, false, 8, 12);
    rule.bias = table;
    return rule;
  };
  for (const int64_t step : {4, 1, 3, 1}) {
    const int64_t begin = cache.length(), end = begin + step;
    cache.attend(kSite, rows(whole.queries, begin, end), rows(whole.keys, begin, end),
                 rows(whole.values, begin, end), rule_at(begin, step));
    cache.advance(step);
  }
  AttentionCase at_once = whole;
  at_once.rule = *text_rule({}, 1, {.causal = true});
  table.index = t5_bucket_index(9, 9, 0, false, 8, 12);
  at_once.rule.bias = table;
  const DenseAttention dense = fovea::support::dense_attention(at_once);
  Recorder recorder;
  cache.record_into(recorder, "steps");
  const auto records = recorder.take();
  const AttentionRecord& record = *records[0];
  validate(record.rule, record.shape());
  EXPECT_EQ(std::get<DistanceTable>(record.rule.bias).index, table.index);
  for (int64_t head = 0; head < 2; ++head) {
    for (int64_t i = 0; i < 9; ++i) {
      EXPECT_NEAR(record.lse.matrix<double>().row(head)[i],
                  dense.lse[static_cast<size_t>(head)][static_cast<size_t>(i)], 5e-6);
    }
  }
}

TEST(Attend, RecordsWhatItComputesAndOnlyIfWanted) {
  const AttentionCase c = causal_case({2, 1, 4, std::nullopt});
  const auto rule = std::make_shared<const ScoreRule>(c.rule);
  Recorder recorder({.outputs = true});
  const Value output =
      attend({.recorder = &recorder}, {.site = kSite, .row_axis = "a", .col_axis = "b"}, c.queries,
             c.keys, c.values, rule);
  EXPECT_EQ(output.shape(), (Shape{4, 2 * kDim}));  // heads side by side
  const auto records = recorder.take();
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0]->row_axis, "a");
  EXPECT_EQ(records[0]->col_axis, "b");
  ASSERT_EQ(records[0]->output.shape(), (Shape{2, 4, kDim}));
  EXPECT_EQ(output.tensor.matrix<float>().row(3)[kDim],
            records[0]->output.matrix<float>(1).row(3)[0]);
  EXPECT_NO_THROW(attend({}, {.site = kSite}, c.queries, c.keys, c.values, rule));
}

TEST(Attend, MovesTheProgressAndStopsWhenAsked) {
  const AttentionCase c = causal_case({2, 2, 4, std::nullopt});
  const auto rule = std::make_shared<const ScoreRule>(c.rule);
  const Pass pass;
  const CancelToken cancel;
  cancel.cancel();
  const WatchScope scope({.cancel = cancel});
  EXPECT_THROW(attend(pass, {.site = kSite}, c.queries, c.keys, c.values, rule), Error);
}

}  // namespace
}  // namespace fovea
