// The inner loops of attention, compiled once per CPU target: scores of a few rows against panels
// of keys, the score rule, exp, and the weighted sum of values. attention.cc and attention_tile.cc
// share them, so a cell's score is the same number wherever it is computed.
//
// Names: depth = head size, keys = columns of the score matrix, group = up to kGroupRows rows.

// NOLINTNEXTLINE: the guard must flip with the target, so #pragma once cannot serve.
#if defined(FOVEA_KERNELS_ATTENTION_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNELS_ATTENTION_ROWS_INL_H_
#undef FOVEA_KERNELS_ATTENTION_ROWS_INL_H_
#else
#define FOVEA_KERNELS_ATTENTION_ROWS_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include "fovea/kernels/head_rule.h"
#include "fovea/kernels/math-inl.h"
#include "fovea/kernels/vector-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Rows whose accumulators (two vectors each) fill the register file: 24 of 32 or 12 of 16.
#if HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64
inline constexpr int kGroupRows = 12;
#else
inline constexpr int kGroupRows = 6;
#endif

// The same for dot products, which keep a running chunk beside each sum (docs/numerics.md).
inline constexpr int kDotRows = 6;

inline constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

// Terms of a dot product that are added up on their own before they join the sum: about a quarter
// of them, so that rounding errors do not grow with the head size (docs/numerics.md).
HWY_INLINE int64_t chunk_depth(int64_t depth) {
  return std::clamp<int64_t>((depth / 4 + 15) / 16 * 16, 16, 32);
}

// One term of kRows x 2 vectors of dot products: row r's number times the panel's row.
template <int kRows>
HWY_INLINE void add_products(const float* HWY_RESTRICT rows, int64_t depth,
                             const float* HWY_RESTRICT panel_row, FloatVector (&sum)[kRows][2]) {
  const FloatTag df;
  const auto b0 = hn::Load(df, panel_row);
  const auto b1 = hn::Load(df, panel_row + kFloatLanes);
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    const auto a = hn::Set(df, rows[r * depth]);
    sum[r][0] = hn::MulAdd(a, b0, sum[r][0]);
    sum[r][1] = hn::MulAdd(a, b1, sum[r][1]);
  }
}

// out[r][c] = rows[r] . panel column c, for kRows rows and two vectors of columns. Whole runs of 16
// terms are unrolled: a short loop's end is mispredicted, which costs as much as several of them.
template <int kRows>
HWY_INLINE void dot_micro(const float* HWY_RESTRICT rows, int64_t depth,
                          const float* HWY_RESTRICT panel, float* HWY_RESTRICT out,
                          int64_t out_stride) {
  const FloatTag df;
  const int64_t chunk = chunk_depth(depth);
  FloatVector total[kRows][2];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) total[r][0] = total[r][1] = hn::Zero(df);
  for (int64_t begin = 0; begin < depth; begin += chunk) {
    const int64_t end = std::min(begin + chunk, depth);
    FloatVector sum[kRows][2];
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) sum[r][0] = sum[r][1] = hn::Zero(df);
    int64_t c = begin;
    for (; c + 16 <= end; c += 16) {
#pragma GCC unroll 16
      for (int64_t t = 0; t < 16; ++t)
        add_products<kRows>(rows + c + t, depth, panel + (c + t) * kPanelWidth, sum);
    }
    for (; c < end; ++c) add_products<kRows>(rows + c, depth, panel + c * kPanelWidth, sum);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      total[r][0] = hn::Add(total[r][0], sum[r][0]);
      total[r][1] = hn::Add(total[r][1], sum[r][1]);
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    hn::Store(total[r][0], df, out + r * out_stride);
    hn::Store(total[r][1], df, out + r * out_stride + kFloatLanes);
  }
}

template <int kRows>
HWY_INLINE void dot_panel(const float* rows, int64_t depth, const float* panel, float* out,
                          int64_t out_stride) {
  for (int64_t column = 0; column < kPanelWidth; column += 2 * kFloatLanes) {
    dot_micro<kRows>(rows, depth, panel + column, out + column, out_stride);
  }
}

// Any number of rows up to kGroupRows. `rows` is [count, depth]; `out` has 64-byte aligned rows.
// This and what else works on a whole panel is not inlined: a call costs nothing beside it, and
// each copy costs the compiler seconds.
inline HWY_NOINLINE void dot_group(const float* rows, int64_t count, int64_t depth,
                                   const float* panel, float* out, int64_t out_stride) {
  int64_t done = 0;
  while (done < count) {
    const float* from = rows + done * depth;
    float* to = out + done * out_stride;
    if (count - done >= kDotRows) {
      dot_panel<kDotRows>(from, depth, panel, to, out_stride);
      done += kDotRows;
    } else if (count - done >= 2) {
      dot_panel<2>(from, depth, panel, to, out_stride);
      done += 2;
    } else {
      dot_panel<1>(from, depth, panel, to, out_stride);
      done += 1;
    }
  }
}

// sums[r][c] += sum over keys of weights[r][key] * panel[key][c].
template <int kRows, int kVectors>
HWY_INLINE void weighted_micro(const float* HWY_RESTRICT weights, int64_t weight_stride,
                               int64_t keys, const float* HWY_RESTRICT panel,
                               float* HWY_RESTRICT sums, int64_t sum_stride) {
  const FloatTag df;
  FloatVector sum[kRows][kVectors];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v)
      sum[r][v] = hn::Load(df, sums + r * sum_stride + v * kFloatLanes);
  }
  for (int64_t key = 0; key < keys; ++key) {
    FloatVector value[kVectors];
    for (int v = 0; v < kVectors; ++v)
      value[v] = hn::Load(df, panel + key * kPanelWidth + v * kFloatLanes);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const auto weight = hn::Set(df, weights[r * weight_stride + key]);
      for (int v = 0; v < kVectors; ++v) sum[r][v] = hn::MulAdd(weight, value[v], sum[r][v]);
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) {
      hn::Store(sum[r][v], df, sums + r * sum_stride + v * kFloatLanes);
    }
  }
}

template <int kRows>
HWY_INLINE void weighted_panel(const float* weights, int64_t weight_stride, int64_t keys,
                               const float* panel, int64_t features, float* sums,
                               int64_t sum_stride) {
  int64_t column = 0;
  for (; column + kFloatLanes < features; column += 2 * kFloatLanes) {
    weighted_micro<kRows, 2>(weights, weight_stride, keys, panel + column, sums + column,
                             sum_stride);
  }
  if (column < features) {
    weighted_micro<kRows, 1>(weights, weight_stride, keys, panel + column, sums + column,
                             sum_stride);
  }
}

// For up to kGroupRows rows: sums += weights * values, the values of keys [first, first + keys).
inline HWY_NOINLINE void weighted_group(const float* weights, int64_t weight_stride, int64_t count,
                                        const Panels& values, int64_t first, int64_t keys,
                                        float* sums, int64_t sum_stride) {
  for (int64_t column = 0; column < values.columns(); column += kPanelWidth) {
    const float* panel = values.panel(column / kPanelWidth) + first * kPanelWidth;
    const int64_t features = std::min(values.columns() - column, kPanelWidth);
    int64_t done = 0;
    while (done < count) {
      const float* from = weights + done * weight_stride;
      float* to = sums + done * sum_stride + column;
      if (count - done >= kGroupRows) {
        weighted_panel<kGroupRows>(from, weight_stride, keys, panel, features, to, sum_stride);
        done += kGroupRows;
      } else if (count - done >= 4) {
        weighted_panel<4>(from, weight_stride, keys, panel, features, to, sum_stride);
        done += 4;
      } else {
        weighted_panel<1>(from, weight_stride, keys, panel, features, to, sum_stride);
        done += 1;
      }
    }
  }
}

// Adds the bias of row i to the scores of `count` keys from `key` on.
inline HWY_NOINLINE void add_bias(const HeadRule& head, const float* query_terms, int64_t i,
                                  int64_t key, int64_t count, float* HWY_RESTRICT scores) {
  const ScoreBias& bias = head.rule->bias;
  const int64_t distance = key - i + head.shape.rows - 1;
  if (const auto* alibi = std::get_if<AlibiSlopes>(&bias)) {
    const float slope = alibi->slopes[static_cast<size_t>(head.head)];
    const int64_t place = i + head.rule->mask.query_offset - key;
    for (int64_t c = 0; c < count; ++c) {
      scores[c] -= slope * static_cast<float>(std::abs(place - c));
    }
  } else if (const auto* table = std::get_if<DistanceTable>(&bias)) {
    const float* HWY_RESTRICT values =
        table->values.values<float>().data() + head.head * table->values.size(1);
    const int32_t* HWY_RESTRICT index = table->index.data() + distance;
    for (int64_t c = 0; c < count; ++c) scores[c] += values[index[c]];
  } else if (const auto* dense = std::get_if<DenseBias>(&bias)) {
    const int64_t plane = dense->values.size(0) == 1 ? 0 : head.head;
    const int64_t row = dense->row_index.empty() ? i : dense->row_index[static_cast<size_t>(i)];
    const float* HWY_RESTRICT values =
        dense->values.values<float>().data() +
        (plane * dense->values.size(1) + row) * dense->values.size(2);
    if (dense->col_index.empty()) {
      for (int64_t c = 0; c < count; ++c) scores[c] += values[key + c];
    } else {
      const int32_t* HWY_RESTRICT index = dense->col_index.data() + key;
      for (int64_t c = 0; c < count; ++c) scores[c] += values[index[c]];
    }
  } else if (const auto* tables = std::get_if<PositionTables>(&bias)) {
    const int32_t* HWY_RESTRICT index = tables->index.data() + distance;
    if (query_terms != nullptr) {
      for (int64_t c = 0; c < count; ++c) scores[c] += query_terms[index[c]];
    }
    if (!head.key_terms.empty()) {
      const float* HWY_RESTRICT terms =
          head.key_terms.data() + (key - head.columns.begin) * head.entries;
      for (int64_t c = 0; c < count; ++c) scores[c] += terms[c * head.entries + index[c]];
    }
  }
}

// Turns scale * q . k of row i and `count` keys from `key` on into scores, as score_rule.h defines.
inline HWY_NOINLINE void apply_rule(const HeadRule& head, const float* query_terms, int64_t i,
                                    int64_t key, int64_t count, float* HWY_RESTRICT scores) {
  const Mask& mask = head.rule->mask;
  if (!head.plain) {
    add_bias(head, query_terms, i, key, count, scores);
    if (head.rule->soft_cap > 0) {
      // In double: an f32 tanh would lose the last digits of a score of 50.
      const double cap = head.rule->soft_cap;
      for (int64_t c = 0; c < count; ++c) {
        scores[c] = static_cast<float>(cap * std::tanh(double{scores[c]} / cap));
      }
    }
    if (!head.key_penalty.empty()) {
      const float* HWY_RESTRICT penalty = head.key_penalty.data() + (key - head.columns.begin);
      for (int64_t c = 0; c < count; ++c) scores[c] += penalty[c];
    }
    if (!mask.key_group.empty()) {
      const int32_t group = mask.query_group[static_cast<size_t>(i)];
      const int32_t* HWY_RESTRICT groups = mask.key_group.data() + key;
      for (int64_t c = 0; c < count; ++c) {
        scores[c] = groups[c] == group ? scores[c] : kMinusInfinity;
      }
    }
    for (auto cut = std::ranges::lower_bound(head.cuts, CutEdge{i, key, -1});
         cut != head.cuts.end() && cut->row == i && cut->col < key + count; ++cut) {
      scores[cut->col - key] = kMinusInfinity;
    }
  }
  const KeyRange range = mask.key_range(i, head.shape.cols);
  const int64_t visible_begin = std::clamp<int64_t>(range.begin - key, 0, count);
  const int64_t visible_end = std::clamp<int64_t>(range.end - key, visible_begin, count);
  std::fill(scores, scores + visible_begin, kMinusInfinity);
  std::fill(scores + visible_end, scores + count, kMinusInfinity);
}

// The same for up to kGroupRows rows from row `row` on.
HWY_INLINE void apply_rule_to_group(const HeadRule& head, const float* query_terms, int64_t row,
                                    int64_t rows, int64_t key, int64_t count, float* scores,
                                    int64_t score_stride) {
  for (int64_t r = 0; r < rows; ++r) {
    const float* terms = query_terms == nullptr ? nullptr : query_terms + r * head.entries;
    apply_rule(head, terms, row + r, key, count, scores + r * score_stride);
  }
}

// The scores of up to kGroupRows rows from row `row` on, against `count` keys from `key` on, which
// begin a panel. `queries` is [rows, depth], already times the scale; `scores` has room for whole
// panels.
HWY_INLINE void score_group(const HeadRule& head, const Panels& keys, const float* queries,
                            const float* query_terms, int64_t row, int64_t rows, int64_t key,
                            int64_t count, float* scores, int64_t score_stride) {
  const int64_t first_panel = (key - head.columns.begin) / kPanelWidth;
  for (int64_t c = 0; c < count; c += kPanelWidth) {
    dot_group(queries, rows, keys.depth(), keys.panel(first_panel + c / kPanelWidth), scores + c,
              score_stride);
  }
  apply_rule_to_group(head, query_terms, row, rows, key, count, scores, score_stride);
}

// terms[r][e] = queries[r] . table[e] for a position table.
inline HWY_NOINLINE void table_terms(const Panels& table, const float* queries, int64_t rows,
                                     float* terms, int64_t entries) {
  HWY_ALIGN float block[kGroupRows * kPanelWidth];
  for (int64_t first = 0; first < rows; first += kGroupRows) {
    const int64_t count = std::min<int64_t>(rows - first, kGroupRows);
    for (int64_t entry = 0; entry < entries; entry += kPanelWidth) {
      dot_group(queries + first * table.depth(), count, table.depth(),
                table.panel(entry / kPanelWidth), block, kPanelWidth);
      const int64_t width = std::min(entries - entry, kPanelWidth);
      for (int64_t r = 0; r < count; ++r) {
        std::copy_n(block + r * kPanelWidth, width, terms + (first + r) * entries + entry);
      }
    }
  }
}

}  // namespace fovea::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FOVEA_KERNELS_ATTENTION_ROWS_INL_H_
