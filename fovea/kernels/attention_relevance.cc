#include "fovea/kernels/attention_relevance.h"

#include <algorithm>
#include <memory>

#include "fovea/base/error.h"
#include "fovea/base/parallel.h"
#include "fovea/kernels/head_rule.h"
#include "fovea/kernels/panels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/attention_relevance.cc"  // re-included once per target
#include "hwy/foreach_target.h"                                    // IWYU pragma: keep

#include "fovea/kernels/attention_rows-inl.h"
#include "hwy/highway.h"

#ifndef FOVEA_KERNELS_ATTENTION_RELEVANCE_ONCE_
#define FOVEA_KERNELS_ATTENTION_RELEVANCE_ONCE_
namespace fovea {

// Keys per step: scores and gradients of one group of rows against them stay in the first-level
// cache, and the panels of keys and values in the second.
inline constexpr int64_t kRelevanceKeys = 256;
// Rows that one work item of the right product takes.
inline constexpr int64_t kRelevanceRows = 96;

// One head, ready to be multiplied. Rows: their number, and the first and last that count.
struct RelevanceHead {
  HeadRule rule;
  Panels keys;
  Panels values;  // laid out as keys are: columns are positions
  HeadsView out_gradient;
  const double* lse;  // of row 0
};

}  // namespace fovea
#endif  // FOVEA_KERNELS_ATTENTION_RELEVANCE_ONCE_

HWY_BEFORE_NAMESPACE();
namespace fovea::HWY_NAMESPACE {

// A group of rows of one head: what all of its tiles share.
class RelevanceGroup {
 public:
  explicit RelevanceGroup(const RelevanceHead& head)
      : head_(head),
        depth_(head.rule.shape.head_dim),
        features_(head.rule.shape.value_dim),
        numbers_(Tensor::uninitialized(
            {kGroupRows * (depth_ + features_) + 2 * kGroupRows * kRelevanceKeys})),
        query_terms_(static_cast<size_t>(
            head.rule.needs_query_terms() ? kGroupRows * head.rule.entries : 0)) {
    // Tiles first: they must lie on whole vectors.
    scores_ = numbers_.mutable_values<float>().data();
    gradients_ = scores_ + kGroupRows * kRelevanceKeys;
    queries_ = gradients_ + kGroupRows * kRelevanceKeys;
    out_gradients_ = queries_ + kGroupRows * depth_;
  }

  // False if no row of it has a gradient.
  HWY_INLINE bool load(int64_t row, int64_t rows) {
    row_ = row;
    rows_ = rows;
    const HeadRule& rule = head_.rule;
    head_.out_gradient.read_rows(rule.head, row, rows, 1, out_gradients_);
    if (std::all_of(out_gradients_, out_gradients_ + rows * features_,
                    [](float gradient) { return gradient == 0; })) {
      return false;
    }
    rule.inputs.queries.read_rows(rule.head, row, rows, rule.rule->scale, queries_);
    if (!query_terms_.empty()) {
      table_terms(rule.position_keys, queries_, rows, query_terms_.data(), rule.entries);
    }
    return true;
  }

  // Fills relevance(r)[c] = max(0, A dA) of keys from `key` on, which begins a panel; 0 up to whole
  // vectors.
  HWY_INLINE void fill(int64_t key, int64_t count) {
    const FloatTag df;
    score_group(head_.rule, head_.keys, queries_,
                query_terms_.empty() ? nullptr : query_terms_.data(), row_, rows_, key, count,
                scores_, kRelevanceKeys);
    for (int64_t c = 0; c < count; c += kPanelWidth) {
      dot_group(out_gradients_, rows_, features_, head_.values.panel((key + c) / kPanelWidth),
                gradients_ + c, kRelevanceKeys);
    }
    const int64_t padded = (count + kFloatLanes - 1) / kFloatLanes * kFloatLanes;
    for (int64_t r = 0; r < rows_; ++r) {
      float* HWY_RESTRICT scores = scores_ + r * kRelevanceKeys;
      const float* HWY_RESTRICT gradients = gradients_ + r * kRelevanceKeys;
      std::fill(scores + count, scores + padded, kMinusInfinity);
      // In two parts because f32 cannot hold a log-sum-exp well enough.
      const double lse = head_.lse[row_ + r];
      const auto high = hn::Set(df, static_cast<float>(lse));
      const auto low = hn::Set(df, static_cast<float>(lse - double{static_cast<float>(lse)}));
      for (int64_t c = 0; c < padded; c += kFloatLanes) {
        const auto log_weight = hn::Sub(hn::Sub(hn::Load(df, scores + c), high), low);
        const auto gradient = hn::Max(hn::Load(df, gradients + c), hn::Zero(df));
        hn::Store(hn::Mul(exp_f32(df, log_weight), gradient), df, scores + c);
      }
    }
  }
  HWY_INLINE const float* relevance(int64_t r) const { return scores_ + r * kRelevanceKeys; }

 private:
  const RelevanceHead& head_;
  int64_t depth_, features_;
  Tensor numbers_;
  std::vector<float> query_terms_;
  float *scores_, *gradients_, *queries_, *out_gradients_;
  int64_t row_ = 0, rows_ = 0;
};

// The panels that a group of rows sees of `part`. Ranges move forward with the row.
HWY_INLINE KeyRange seen_part(const HeadRule& head, int64_t row, int64_t rows, KeyRange part) {
  const Mask& mask = head.rule->mask;
  const int64_t begin = mask.key_range(row, head.shape.cols).begin / kPanelWidth * kPanelWidth;
  const int64_t end = mask.key_range(row + rows - 1, head.shape.cols).end;
  return {std::max(begin, part.begin), std::min(end, part.end)};
}

// sums[c] += sum_i weights[i] max(0, A dA)(i, part.begin + c) of one head; a thread owns its
// columns and walks down the rows. `part` begins a panel.
void relevance_columns(const RelevanceHead& head, KeyRange part, const double* weights,
                       double* sums) {
  const FloatTag df;
  const int64_t all_rows = head.rule.shape.rows;
  RelevanceGroup group(head);
  HWY_ALIGN float column_sums[kRelevanceKeys];
  for (int64_t row = 0; row < all_rows; row += kGroupRows) {
    const int64_t rows = std::min<int64_t>(all_rows - row, kGroupRows);
    const KeyRange seen = seen_part(head.rule, row, rows, part);
    if (seen.begin >= seen.end) continue;
    if (std::all_of(weights + row, weights + row + rows, [](double w) { return w == 0; })) continue;
    if (!group.load(row, rows)) continue;
    const int64_t count = seen.end - seen.begin;
    group.fill(seen.begin, count);
    // In f32 over one group of rows, in double over many.
    for (int64_t c = 0; c < count; c += kFloatLanes) {
      auto sum = hn::Zero(df);
      for (int64_t r = 0; r < rows; ++r) {
        sum = hn::MulAdd(hn::Set(df, static_cast<float>(weights[row + r])),
                         hn::Load(df, group.relevance(r) + c), sum);
      }
      hn::Store(sum, df, column_sums + c);
    }
    double* to = sums + (seen.begin - part.begin);
    for (int64_t c = 0; c < count; ++c) to[c] += double{column_sums[c]};
  }
}

// sums[r] = sum_j max(0, A dA)(row + r, j) x[j] of one head. `x` has room for whole vectors.
void relevance_rows(const RelevanceHead& head, int64_t begin, int64_t end, const float* x,
                    double* sums) {
  const FloatTag df;
  RelevanceGroup group(head);
  for (int64_t row = begin; row < end; row += kGroupRows) {
    const int64_t rows = std::min<int64_t>(end - row, kGroupRows);
    if (!group.load(row, rows)) continue;
    const KeyRange seen = seen_part(head.rule, row, rows, {0, head.rule.shape.cols});
    for (int64_t key = seen.begin; key < seen.end; key += kRelevanceKeys) {
      const int64_t count = std::min(seen.end - key, kRelevanceKeys);
      group.fill(key, count);
      for (int64_t r = 0; r < rows; ++r) {
        auto sum = hn::Zero(df);
        for (int64_t c = 0; c < count; c += kFloatLanes) {
          sum = hn::MulAdd(hn::Load(df, group.relevance(r) + c), hn::LoadU(df, x + key + c), sum);
        }
        sums[row - begin + r] += double{hn::GetLane(hn::SumOfLanes(df, sum))};
      }
    }
  }
}

}  // namespace fovea::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea {

HWY_EXPORT(relevance_columns);
HWY_EXPORT(relevance_rows);

namespace {

void check_length(const char* what, size_t given, int64_t wanted) {
  if (static_cast<int64_t>(given) == wanted) return;
  fail(ErrorKind::kInvalidArgument, "{} {} are given but the attention has {}", given, what,
       wanted);
}

// Calls use(head) with all heads, several at a time, and adds up what they give: sums of `size`
// numbers, split into `items` that are computed on their own.
template <typename Use>
std::vector<double> mean_over_heads(const GradedAttention& attention, int64_t size, int64_t items,
                                    const Use& use) {
  const AttentionShape shape = attention.inputs.shape();
  constexpr int64_t kSmall = 2'000'000;  // products: some tens of microseconds of one core
  const SingleThread one(
      (shape.rows + 1) * shape.cols * shape.heads * (shape.head_dim + shape.value_dim) <= kSmall);
  const KeyRange all{0, shape.cols};
  std::vector<Panels> keys(static_cast<size_t>(shape.kv_heads)), values(keys.size());
  parallel_for(shape.kv_heads * 2, [&](int64_t item) {
    const auto head = static_cast<size_t>(item / 2);
    const HeadsView& view = item % 2 == 0 ? attention.inputs.keys : attention.inputs.values;
    (item % 2 == 0 ? keys : values)[head] = Panels::of_keys(view, item / 2, all);
  });
  // Position tables cost O(cols * entries) memory a head, so such heads go one by one.
  const int64_t at_once =
      std::holds_alternative<PositionTables>(attention.inputs.rule->bias) ? 1 : shape.heads;
  std::vector<double> mean(static_cast<size_t>(size));
  for (int64_t first = 0; first < shape.heads; first += at_once) {
    const int64_t count = std::min(at_once, shape.heads - first);
    std::vector<RelevanceHead> heads;
    for (int64_t head = first; head < first + count; ++head) {
      const auto kv_head = static_cast<size_t>(shape.kv_head(head));
      heads.push_back({HeadRule(attention.inputs, head, all), keys[kv_head], values[kv_head],
                       attention.out_gradient, attention.lse.data() + head * shape.rows});
    }
    std::vector<double> sums(static_cast<size_t>(count * size));
    parallel_for(count * items, [&](int64_t item) {
      const int64_t head = item / items;
      use(heads[static_cast<size_t>(head)], item % items, sums.data() + head * size);
    });
    for (size_t i = 0; i < sums.size(); ++i) {
      mean[i % mean.size()] += sums[i] / static_cast<double>(shape.heads);
    }
  }
  return mean;
}

}  // namespace

void validate(const GradedAttention& attention) {
  validate(attention.inputs);
  const AttentionShape shape = attention.inputs.shape();
  const HeadsView& gradient = attention.out_gradient;
  if (shape.value_dim == 0 || gradient.heads != shape.heads || gradient.rows != shape.rows ||
      gradient.dim != shape.value_dim) {
    fail(ErrorKind::kInvalidArgument,
         "a gradient [{}, {}, {}] does not fit outputs [{}, {}, {}] of attention", gradient.heads,
         gradient.rows, gradient.dim, shape.heads, shape.rows, shape.value_dim);
  }
  check_length("log-sum-exps", attention.lse.size(), shape.heads * shape.rows);
}

std::vector<double> relevance_times_left(const GradedAttention& attention,
                                         std::span<const double> weights) {
  const AttentionShape shape = attention.inputs.shape();
  check_length("row weights", weights.size(), shape.rows);
  const int64_t blocks = (shape.cols + kRelevanceKeys - 1) / kRelevanceKeys;
  return mean_over_heads(attention, shape.cols, blocks,
                         [&](const RelevanceHead& head, int64_t block, double* sums) {
                           const int64_t begin = block * kRelevanceKeys;
                           const KeyRange part{begin, std::min(begin + kRelevanceKeys, shape.cols)};
                           HWY_DYNAMIC_DISPATCH(relevance_columns)
                           (head, part, weights.data(), sums + begin);
                         });
}

std::vector<double> relevance_times_right(const GradedAttention& attention,
                                          std::span<const double> x) {
  const AttentionShape shape = attention.inputs.shape();
  check_length("column weights", x.size(), shape.cols);
  std::vector<float> padded(x.size() + static_cast<size_t>(kPanelWidth));
  std::transform(x.begin(), x.end(), padded.begin(),
                 [](double value) { return static_cast<float>(value); });
  const int64_t blocks = (shape.rows + kRelevanceRows - 1) / kRelevanceRows;
  return mean_over_heads(attention, shape.rows, blocks,
                         [&](const RelevanceHead& head, int64_t block, double* sums) {
                           // Last rows first: under a causal mask they are the longest.
                           const int64_t begin = (blocks - 1 - block) * kRelevanceRows;
                           const int64_t end = std::min(begin + kRelevanceRows, shape.rows);
                           HWY_DYNAMIC_DISPATCH(relevance_rows)
                           (head, begin, end, padded.data(), sums + begin);
                         });
}

}  // namespace fovea
#endif  // HWY_ONCE
