#include "fovea/kernels/attention.h"

#include <vector>

#include "fovea/base/parallel.h"
#include "fovea/kernels/dot16.h"
#include "fovea/kernels/fixed_point.h"
#include "fovea/kernels/head_rule.h"
#include "fovea/kernels/panels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/attention.cc"  // re-included once per CPU target
#include "hwy/foreach_target.h"                          // IWYU pragma: keep

#include "fovea/kernels/attention_rows-inl.h"
#include "hwy/highway.h"

#ifndef FOVEA_KERNELS_ATTENTION_ONCE_
#define FOVEA_KERNELS_ATTENTION_ONCE_
namespace fovea {

// Rows that one work item takes: enough to read each block of keys from cache many times.
inline constexpr int64_t kBlockRows = 96;
// Keys per step: scores of one group of rows against them (24 KB) stay in the first-level cache.
inline constexpr int64_t kBlockKeys = kMostFixedKeys;

// A block of rows of one head, as a thread works on it.
struct RowBlock {
  const HeadRule* head;
  const Panels* keys;
  const Panels* values;
  int64_t row;
  int64_t rows;
  MutableHeadsView out;
  double* lse;  // of the block's first row
};

}  // namespace fovea
#endif  // FOVEA_KERNELS_ATTENTION_ONCE_

HWY_BEFORE_NAMESPACE();
namespace fovea::HWY_NAMESPACE {

// Running softmax of one row: the largest score so far and the sum of exp(score - largest).
struct RunningSoftmax {
  float largest = kMinusInfinity;
  double sum = 0;
};

// Lets `state` follow the largest of `count` more scores; what is summed up so far is rescaled.
HWY_INLINE void follow_largest(RunningSoftmax& state, const float* HWY_RESTRICT scores,
                               int64_t count, float* HWY_RESTRICT sums, int64_t features) {
  const FloatTag df;
  auto highest0 = hn::Set(df, state.largest);
  auto highest1 = highest0;
  for (int64_t c = 0; c < count; c += 2 * kFloatLanes) {
    highest0 = hn::Max(highest0, hn::Load(df, scores + c));
    highest1 = hn::Max(highest1, hn::Load(df, scores + c + kFloatLanes));
  }
  const float largest = hn::GetLane(hn::MaxOfLanes(df, hn::Max(highest0, highest1)));
  if (largest == state.largest) return;
  const float rescale = std::exp(state.largest - largest);  // 0 on the first step
  const auto factor = hn::Set(df, rescale);
  for (int64_t c = 0; c < features; c += kFloatLanes) {
    hn::Store(hn::Mul(hn::Load(df, sums + c), factor), df, sums + c);
  }
  state.sum *= double{rescale};
  state.largest = largest;
}

// Replaces scores by exp(score - largest) and adds them to the sum.
HWY_INLINE void weigh(RunningSoftmax& state, float* HWY_RESTRICT scores, int64_t count) {
  const FloatTag df;
  // Nothing seen yet: all scores are -infinity and become 0, but not by exp(-inf - -inf).
  const auto shift = hn::Set(df, state.largest == kMinusInfinity ? 0.0F : state.largest);
  auto total0 = hn::Zero(df);
  auto total1 = total0;
  for (int64_t c = 0; c < count; c += 2 * kFloatLanes) {
    const auto weight0 = exp_weight_f32(df, hn::Sub(hn::Load(df, scores + c), shift));
    const auto weight1 = exp_weight_f32(df, hn::Sub(hn::Load(df, scores + c + kFloatLanes), shift));
    hn::Store(weight0, df, scores + c);
    hn::Store(weight1, df, scores + c + kFloatLanes);
    total0 = hn::Add(total0, weight0);
    total1 = hn::Add(total1, weight1);
  }
  state.sum += double{hn::GetLane(hn::SumOfLanes(df, hn::Add(total0, total1)))};
}

// Writes the finished rows: output = sums / sum, LSE = largest + log(sum), sink logit included.
HWY_INLINE void finish_rows(const RowBlock& block, const RunningSoftmax* states, const float* sums,
                            int64_t sum_stride) {
  const HeadRule& head = *block.head;
  const std::vector<float>& sinks = head.rule->sink_logit;
  for (int64_t r = 0; r < block.rows; ++r) {
    float* out = block.out.row(head.head, block.row + r);
    const float* from = sums + r * sum_stride;
    double lse = states[r].sum > 0 ? double{states[r].largest} + std::log(states[r].sum) : 0;
    double share = states[r].sum > 0 ? 1 / states[r].sum : 0;
    if (states[r].sum > 0 && !sinks.empty()) {
      const double sink = sinks[static_cast<size_t>(head.head)];
      const double highest = std::max(lse, sink);
      const double joint = highest + std::log(std::exp(lse - highest) + std::exp(sink - highest));
      share *= std::exp(lse - joint);
      lse = joint;
    }
    const auto factor = static_cast<float>(share);
    for (int64_t c = 0; c < block.values->columns(); ++c) out[c] = from[c] * factor;
    block.lse[r] = lse;
  }
}

// The products of one block of rows in f32.
class FloatProducts {
 public:
  explicit FloatProducts(const RowBlock& block)
      : block_(block),
        depth_(block.head->shape.head_dim),
        queries_(Tensor::uninitialized({block.rows * depth_})) {
    const HeadRule& head = *block.head;
    float* queries = queries_.mutable_values<float>().data();
    head.inputs.queries.read_rows(head.head, block.row, block.rows, head.rule->scale, queries);
    if (!head.needs_query_terms()) return;
    query_terms_.resize(static_cast<size_t>(block.rows * head.entries));
    table_terms(head.position_keys, queries, block.rows, query_terms_.data(), head.entries);
  }

  HWY_INLINE void scores(int64_t first, int64_t rows, int64_t key, int64_t count,
                         float* out) const {
    const HeadRule& head = *block_.head;
    score_group(head, *block_.keys, queries_.values<float>().data() + first * depth_,
                query_terms_.empty() ? nullptr : query_terms_.data() + first * head.entries,
                block_.row + first, rows, key, count, out, kBlockKeys);
  }

  HWY_INLINE void add_weighted(const float* weights, int64_t rows, int64_t key, int64_t count,
                               float* sums, int64_t sum_stride) {
    weighted_group(weights, kBlockKeys, rows, *block_.values, key, count, sums, sum_stride);
  }

 private:
  const RowBlock& block_;
  int64_t depth_;
  Tensor queries_;  // [rows, depth], times the scale
  std::vector<float> query_terms_;
};

alignas(64) constexpr float kZeros[kPanelWidth] = {};

// Weights of one row as integers; gives their unit. No weight is larger than their norm.
HWY_INLINE float fix_weights(const float* HWY_RESTRICT weights, int64_t count,
                             int16_t* HWY_RESTRICT to) {
  const FloatTag df;
  const hn::Rebind<int16_t, FloatTag> dh;
  auto squares0 = hn::Zero(df);
  auto squares1 = squares0;
  for (int64_t c = 0; c < count; c += 2 * kFloatLanes) {
    const auto weight0 = hn::Load(df, weights + c);
    const auto weight1 = hn::Load(df, weights + c + kFloatLanes);
    squares0 = hn::MulAdd(weight0, weight0, squares0);
    squares1 = hn::MulAdd(weight1, weight1, squares1);
  }
  const float squares = hn::GetLane(hn::SumOfLanes(df, hn::Add(squares0, squares1)));
  constexpr float kLargest = 32766;
  const float norm = std::sqrt(squares);
  const auto factor = hn::Set(df, squares > 0 ? kLargest / norm : 0.0F);
  for (int64_t c = 0; c < count; c += kFloatLanes) {
    const auto fixed = hn::NearestInt(hn::Mul(hn::Load(df, weights + c), factor));
    hn::StoreU(hn::DemoteTo(dh, fixed), dh, to + c);
  }
  return norm / kLargest;
}

// The same of 16-bit integers.
class Products16 {
 public:
  explicit Products16(const RowBlock& block)
      : block_(block),
        queries_(block.rows, block.head->shape.head_dim),
        weights_(Tensor::uninitialized({kGroupRows * kBlockKeys}, DType::kI16)) {
    const HeadRule& head = *block.head;
    float query[kMaxHeadDim];
    for (int64_t r = 0; r < block.rows; ++r) {
      head.inputs.queries.read_row(head.head, block.row + r, 1, query);
      queries_.set(r, query);
    }
    // All keys have the same.
    std::fill_n(key_units_, kPanelWidth, block.keys->units(0)[0] * head.rule->scale);
  }

  HWY_INLINE void scores(int64_t first, int64_t rows, int64_t key, int64_t count,
                         float* out) const {
    const I16Rows queries = queries_.view(first, rows);
    for (int64_t c = 0; c < count; c += kPanelWidth) {
      i16_dots(queries,
               {.data = block_.keys->pairs((key + c) / kPanelWidth),
                .pairs = block_.keys->steps(),
                .units = key_units_},
               {kZeros}, out + c, kBlockKeys);
    }
    apply_rule_to_group(*block_.head, nullptr, block_.row + first, rows, key, count, out,
                        kBlockKeys);
  }

  HWY_INLINE void add_weighted(const float* weights, int64_t rows, int64_t key, int64_t count,
                               float* sums, int64_t sum_stride) {
    int16_t* fixed = weights_.mutable_values<int16_t>().data();
    const int64_t padded = (count + kPanelWidth - 1) / kPanelWidth * kPanelWidth;
    float units[kGroupRows];
    for (int64_t r = 0; r < rows && block_.values->columns() > 0; ++r) {
      units[r] = fix_weights(weights + r * kBlockKeys, padded, fixed + r * kBlockKeys);
    }
    for (int64_t column = 0; column < block_.values->columns(); column += kPanelWidth) {
      const int64_t panel = column / kPanelWidth;
      i16_dots({.data = fixed, .stride = kBlockKeys, .count = rows, .units = units},
               {.data = block_.values->pairs(panel) + key / 2 * kPanelWidth,
                .pairs = (count + 1) / 2,
                .units = block_.values->units(panel)},
               {sums + column, sum_stride}, sums + column, sum_stride);
    }
  }

 private:
  const RowBlock& block_;
  FixedRows queries_;
  float key_units_[kPanelWidth];  // times the scale
  Tensor weights_;
};

template <class Products>
HWY_INLINE void attend_rows_by(const RowBlock& block) {
  const HeadRule& head = *block.head;
  Products products(block);
  const int64_t features = (block.values->columns() + kPanelWidth - 1) / kPanelWidth * kPanelWidth;
  Tensor sum_tensor(Shape{block.rows * features});  // zeros
  Tensor score_tensor = Tensor::uninitialized({kGroupRows * kBlockKeys});
  float* sums = sum_tensor.mutable_values<float>().data();
  float* scores = score_tensor.mutable_values<float>().data();
  RunningSoftmax states[kBlockRows];

  // Keys that no row of a block or of a group sees are skipped. Ranges move forward with the row.
  const Mask& mask = head.rule->mask;
  const auto seen_by = [&](int64_t first, int64_t rows) {
    const int64_t row = block.row + first;
    return KeyRange{mask.key_range(row, head.shape.cols).begin,
                    mask.key_range(row + rows - 1, head.shape.cols).end};
  };
  const KeyRange seen = seen_by(0, block.rows);
  for (int64_t key = seen.begin / kPanelWidth * kPanelWidth; key < seen.end; key += kBlockKeys) {
    for (int64_t first = 0; first < block.rows; first += kGroupRows) {
      const int64_t rows = std::min<int64_t>(block.rows - first, kGroupRows);
      const KeyRange seen_here = seen_by(first, rows);
      const int64_t count = std::min(seen_here.end - key, kBlockKeys);
      if (count <= 0 || key + count <= seen_here.begin) continue;
      const int64_t padded = (count + kPanelWidth - 1) / kPanelWidth * kPanelWidth;
      products.scores(first, rows, key, count, scores);
      for (int64_t r = 0; r < rows; ++r) {
        float* row = scores + r * kBlockKeys;
        std::fill(row + count, row + padded, kMinusInfinity);
        follow_largest(states[first + r], row, padded, sums + (first + r) * features, features);
      }
      for (int64_t r = 0; r < rows; ++r) weigh(states[first + r], scores + r * kBlockKeys, padded);
      products.add_weighted(scores, rows, key, count, sums + first * features, features);
    }
  }
  finish_rows(block, states, sums, features);
}

void attend_rows(const RowBlock& block) {
  if (block.keys->dtype() == DType::kI16) {
    attend_rows_by<Products16>(block);
  } else {
    attend_rows_by<FloatProducts>(block);
  }
}

}  // namespace fovea::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea {

HWY_EXPORT(attend_rows);

void validate(const AttentionInputs& inputs) {
  const AttentionShape shape = inputs.shape();
  if (shape.head_dim > kMaxHeadDim || shape.value_dim > kMaxHeadDim) {
    fail(ErrorKind::kUnsupported, "head sizes {} and {} are above {}, the largest that is computed",
         shape.head_dim, shape.value_dim, kMaxHeadDim);
  }
  if (inputs.keys.dim != shape.head_dim) {
    fail(ErrorKind::kInvalidArgument, "queries have head size {} but keys have {}", shape.head_dim,
         inputs.keys.dim);
  }
  if (shape.value_dim > 0 &&
      (inputs.values.heads != shape.kv_heads || inputs.values.rows != shape.cols)) {
    fail(ErrorKind::kInvalidArgument, "{} heads of {} values do not match {} heads of {} keys",
         inputs.values.heads, inputs.values.rows, shape.kv_heads, shape.cols);
  }
  validate(*inputs.rule, shape);
}

namespace {

// One head, ready to be computed.
struct HeadWork {
  HeadRule rule;
  Panels keys;
  Panels values;
  MutableHeadsView out;
  std::span<double> lse;  // from the head's first row on
};

void attend_heads(const std::vector<HeadWork>& work) {
  if (work.empty()) return;
  const int64_t rows = work.front().rule.shape.rows;
  const int64_t blocks = (rows + kBlockRows - 1) / kBlockRows;
  parallel_for(blocks * static_cast<int64_t>(work.size()), [&](int64_t item) {
    const HeadWork& head = work[static_cast<size_t>(item / blocks)];
    // Last rows first: under a causal mask they are the longest, and the threads end together.
    const int64_t row = (blocks - 1 - item % blocks) * kBlockRows;
    HWY_DYNAMIC_DISPATCH(attend_rows)
    ({&head.rule, &head.keys, &head.values, row, std::min(rows - row, kBlockRows), head.out,
      head.lse.data() + row});
  });
}

// Position tables meet the scaled f32 queries, so that such scores are made in f32 altogether.
DType product_type(const AttentionInputs& inputs) {
  const bool wanted =
      inputs.compute == DType::kI16 && !std::holds_alternative<PositionTables>(inputs.rule->bias);
  return wanted && has_i16_dot() ? DType::kI16 : DType::kF32;
}

}  // namespace

void attention(const AttentionInputs& inputs, MutableHeadsView out, std::span<double> lse) {
  const AttentionShape shape = inputs.shape();
  constexpr int64_t kSmall = 2'000'000;  // products: some tens of microseconds of one core
  const SingleThread one(
      (shape.rows + 1) * shape.cols * shape.heads * (shape.head_dim + shape.value_dim) <= kSmall);
  const KeyRange all{0, shape.cols};
  const DType products = product_type(inputs);
  std::vector<Panels> keys(static_cast<size_t>(shape.kv_heads));
  std::vector<Panels> values(keys.size());
  parallel_for(shape.kv_heads * 2, [&](int64_t item) {
    const auto head = static_cast<size_t>(item / 2);
    if (item % 2 == 0) {
      keys[head] = Panels::of_keys(inputs.keys, item / 2, all, products);
    } else {
      values[head] = Panels::of_values(inputs.values, item / 2, all, products);
    }
  });
  // Position tables cost O(cols * entries) memory a head, so such heads go one by one.
  const int64_t at_once =
      std::holds_alternative<PositionTables>(inputs.rule->bias) ? 1 : shape.heads;
  for (int64_t first = 0; first < shape.heads; first += at_once) {
    std::vector<HeadWork> work;
    for (int64_t head = first; head < std::min(first + at_once, shape.heads); ++head) {
      const auto kv_head = static_cast<size_t>(shape.kv_head(head));
      work.push_back({HeadRule(inputs, head, all), keys[kv_head], values[kv_head], out,
                      lse.subspan(static_cast<size_t>(head * shape.rows))});
    }
    attend_heads(work);
  }
}

void attention_of_head(const AttentionInputs& inputs, int64_t head, MatrixView<const float> values,
                       MatrixView<float> out, std::span<double> lse) {
  const AttentionShape shape = inputs.shape();
  const KeyRange all{0, shape.cols};
  const HeadsView one_head{reinterpret_cast<const std::byte*>(values.data),
                           DType::kF32,
                           1,
                           values.rows,
                           values.cols,
                           0,
                           values.stride};
  attend_heads({{HeadRule(inputs, head, all),
                 Panels::of_keys(inputs.keys, shape.kv_head(head), all),
                 Panels::of_values(one_head, 0, all),
                 {out.data, 0, out.stride},
                 lse}});
}

}  // namespace fovea
#endif  // HWY_ONCE
