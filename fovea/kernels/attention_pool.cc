#include "fovea/kernels/attention_pool.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/attention_pool.cc"  // re-included once per CPU target
#include "hwy/foreach_target.h"                               // IWYU pragma: keep

#include "fovea/kernels/attention_rows-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::HWY_NAMESPACE {

// The keys that are looked at together: the scores of a group of rows stay in the first-level
// cache.
inline constexpr int64_t kPartKeys = ScoreBound::kBlockKeys;

// exp() gives 0 below -87.33.
inline constexpr double kNothing = -88;

// Rows of the map, in rising order, with what is needed of each.
struct PoolRows {
  PoolRows(const HeadRule& head, std::span<const int64_t> row_numbers,
           std::span<const double> row_lse)
      : rows(row_numbers),
        lse(row_lse),
        depth(head.shape.head_dim),
        storage(Tensor::uninitialized({count(), depth})),
        queries(storage.mutable_values<float>().data()) {
    if (head.needs_query_terms()) terms.resize(rows.size() * static_cast<size_t>(head.entries));
    for (size_t r = 0; r < rows.size(); ++r) {
      float* query = queries + static_cast<int64_t>(r) * depth;
      head.inputs.queries.read_row(head.head, rows[r], head.rule->scale, query);
      const auto square = [](FloatVector x) HWY_ATTR { return hn::Mul(x, x); };
      norms.push_back(static_cast<float>(std::sqrt(sum_floats(depth, square, query))));
      // In two parts, because f32 cannot hold it well enough.
      lse_high.push_back(static_cast<float>(lse[r]));
      lse_low.push_back(static_cast<float>(lse[r] - double{lse_high.back()}));
    }
    if (!terms.empty()) {
      table_terms(head.position_keys, queries, count(), terms.data(), head.entries);
    }
  }

  int64_t count() const { return static_cast<int64_t>(rows.size()); }
  const float* query(int64_t r) const { return queries + r * depth; }

  std::span<const int64_t> rows;
  std::span<const double> lse;
  int64_t depth;
  Tensor storage;
  float* queries;            // [rows, depth], times the scale
  std::vector<float> terms;  // [rows, entries] of disentangled attention
  std::vector<float> norms;  // of the queries
  std::vector<float> lse_high, lse_low;
};

// Whether every weight of the rows with this block of keys is 0.
bool is_nothing(const ScoreBound& bound, const PoolRows& rows, int64_t block) {
  for (int64_t r = 0; r < rows.count(); ++r) {
    const auto place = static_cast<size_t>(r);
    const float largest = bound.of(rows.query(r), rows.norms[place], rows.rows[place], block);
    if (!(double{largest} - rows.lse[place] < kNothing)) return false;
  }
  return true;
}

// Keys that are scored together.
struct Piece {
  int64_t key = 0;  // begins a panel
  int64_t width = 0;
  bool plain = false;  // scores are scale * q . k, none masked

  int64_t stride() const { return (width + kPanelWidth - 1) / kPanelWidth * kPanelWidth; }
};

// Scores of the rows [first, first + count), padded with -infinity to whole vectors.
HWY_NOINLINE void score_rows(const HeadRule& head, const Panels& keys, const PoolRows& rows,
                             int64_t first, int64_t count, const Piece& piece,
                             float* HWY_RESTRICT scores) {
  const int64_t panel = (piece.key - head.columns.begin) / kPanelWidth;
  for (int64_t c = 0; c < piece.width; c += kPanelWidth) {
    dot_group(rows.query(first), count, keys.depth(), keys.panel(panel + c / kPanelWidth),
              scores + c, piece.stride());
  }
  if (piece.plain) return;
  for (int64_t r = 0; r < count; ++r) {
    float* row = scores + r * piece.stride();
    const float* terms =
        rows.terms.empty() ? nullptr : rows.terms.data() + (first + r) * head.entries;
    apply_rule(head, terms, rows.rows[static_cast<size_t>(first + r)], piece.key, piece.width, row);
    std::fill(row + piece.width, row + piece.stride(), kMinusInfinity);
  }
}

HWY_INLINE FloatVector weights_at(const float* scores, float lse_high, float lse_low) {
  const FloatTag df;
  return exp_f32(
      df, hn::Sub(hn::Sub(hn::Load(df, scores), hn::Set(df, lse_high)), hn::Set(df, lse_low)));
}

// Down the columns: max[c] and sum[c] over the rows [first, first + count).
HWY_NOINLINE void fold_down(const float* HWY_RESTRICT scores, const PoolRows& rows, int64_t first,
                            int64_t count, const Piece& piece, float* HWY_RESTRICT max,
                            float* HWY_RESTRICT sum) {
  const FloatTag df;
  const float* HWY_RESTRICT lse_high = rows.lse_high.data() + first;
  const float* HWY_RESTRICT lse_low = rows.lse_low.data() + first;
  const int64_t stride = piece.stride();
  for (int64_t c = 0; c < piece.width; c += kFloatLanes) {
    FloatVector largest = hn::Load(df, max + c);
    FloatVector total = hn::Load(df, sum + c);
    for (int64_t r = 0; r < count; ++r) {
      const FloatVector weight = weights_at(scores + r * stride + c, lse_high[r], lse_low[r]);
      largest = hn::Max(largest, weight);
      total = hn::Add(total, weight);
    }
    hn::Store(largest, df, max + c);
    hn::Store(total, df, sum + c);
  }
}

// Along a row of `width` cells that begins `offset` cells after the first block's start.
HWY_INLINE void fold_along(const float* max, const float* sum, int64_t offset, int64_t width,
                           int64_t bin, float* out_max, double* out_sum) {
  const FloatTag df;
  for (int64_t c = 0; c < width;) {
    const int64_t block = (offset + c) / bin;
    const int64_t end = std::min(width, (block + 1) * bin - offset);
    float largest = out_max[block];
    float total = 0;
    if (end - c >= 2 * kFloatLanes) {
      FloatVector most = hn::Zero(df);
      FloatVector sums = hn::Zero(df);
      for (; c + kFloatLanes <= end; c += kFloatLanes) {
        most = hn::Max(most, hn::LoadU(df, max + c));
        sums = hn::Add(sums, hn::LoadU(df, sum + c));
      }
      largest = std::max(largest, hn::GetLane(hn::MaxOfLanes(df, most)));
      total = hn::GetLane(hn::SumOfLanes(df, sums));
    }
    for (; c < end; ++c) {
      largest = std::max(largest, max[c]);
      total += sum[c];
    }
    out_max[block] = largest;
    out_sum[block] += double{total};
  }
}

// Calls use(part) for all keys that the rows may see, but for parts that hold nothing.
template <typename Use>
HWY_INLINE void for_each_part(const HeadRule& head, const ScoreBound& bound, const PoolRows& rows,
                              const Use& use) {
  // Ranges only move forward with the row, so first and last row decide.
  const Mask& mask = head.rule->mask;
  const KeyRange first = mask.key_range(rows.rows.front(), head.shape.cols);
  const KeyRange last = mask.key_range(rows.rows.back(), head.shape.cols);
  const int64_t end = std::min(head.columns.end, last.end);
  int64_t block = 0;
  for (int64_t key = head.columns.begin; key < end; key += kPartKeys, ++block) {
    if (key + kPartKeys <= first.begin || is_nothing(bound, rows, block)) continue;
    const bool plain = head.plain && last.begin <= key && key + kPartKeys <= first.end &&
                       key + kPartKeys <= head.columns.end;
    use(Piece{key, std::min(kPartKeys, head.columns.end - key), plain});
  }
}

// Calls use(piece, its first column within the part). Where scores are plain a piece is one panel,
// which stays in the first-level cache while the rows go by; else it is the part, since the rule is
// applied row by row.
template <typename Use>
HWY_INLINE void for_each_piece(const Piece& part, const Use& use) {
  const int64_t step = part.plain ? kPanelWidth : part.width;
  for (int64_t c = 0; c < part.width; c += step) use(Piece{part.key + c, step, part.plain}, c);
}

// Calls use(part, down_max, down_sum) for all keys that the rows may see. The rows lie in `blocks`
// blocks; each column of the part has its maximum and sum over the rows of each block.
template <typename Use>
HWY_INLINE void fold_blocks(const HeadRule& head, const Panels& keys, const ScoreBound& bound,
                            const PoolRows& rows, int64_t bin, int64_t blocks, const Use& use) {
  HWY_ALIGN float scores[kGroupRows * kPartKeys];
  Tensor column_max = Tensor::uninitialized({blocks, kPartKeys});
  Tensor column_sum = Tensor::uninitialized({blocks, kPartKeys});
  const MatrixView<float> down_max = column_max.mutable_matrix<float>();
  const MatrixView<float> down_sum = column_sum.mutable_matrix<float>();
  for_each_part(head, bound, rows, [&](const Piece& part) HWY_ATTR {
    std::ranges::fill(column_max.mutable_values<float>(), 0.0F);
    std::ranges::fill(column_sum.mutable_values<float>(), 0.0F);
    for_each_piece(part, [&](const Piece& piece, int64_t c) HWY_ATTR {
      for (int64_t first = 0; first < rows.count(); first += kGroupRows) {
        const int64_t count = std::min<int64_t>(rows.count() - first, kGroupRows);
        score_rows(head, keys, rows, first, count, piece, scores);
        for (int64_t r = 0; r < count;) {  // rows of one block at a time
          const int64_t block = (first + r) / bin;
          const int64_t end = std::min(count, (block + 1) * bin - first);
          fold_down(scores + r * piece.stride(), rows, first + r, end - r, piece,
                    down_max.row(block) + c, down_sum.row(block) + c);
          r = end;
        }
      }
    });
    use(part, down_max, down_sum);
  });
}

void pool_blocks(const HeadRule& head, const Panels& keys, const ScoreBound& bound,
                 const PoolRows& rows, int64_t bin, const MatrixView<float>& max,
                 const MatrixView<double>& sum) {
  fold_blocks(
      head, keys, bound, rows, bin, max.rows,
      [&](const Piece& part, const MatrixView<float>& down_max, const MatrixView<float>& down_sum)
          HWY_ATTR {
            for (int64_t block = 0; block < max.rows; ++block) {
              fold_along(down_max.row(block), down_sum.row(block), part.key - head.columns.begin,
                         part.width, bin, max.row(block), sum.row(block));
            }
          });
}

void pool_columns(const HeadRule& head, const Panels& keys, const ScoreBound& bound,
                  const PoolRows& rows, int64_t bin, const MatrixView<float>& max,
                  const MatrixView<float>& sum) {
  fold_blocks(
      head, keys, bound, rows, bin, max.rows,
      [&](const Piece& part, const MatrixView<float>& down_max, const MatrixView<float>& down_sum) {
        const int64_t at = part.key - head.columns.begin;
        for (int64_t block = 0; block < max.rows; ++block) {
          for (int64_t c = 0; c < part.width; ++c) {
            float& largest = max(block, at + c);
            largest = std::max(largest, down_max(block, c));
            sum(block, at + c) += down_sum(block, c);
          }
        }
      });
}

void pool_rows(const HeadRule& head, const Panels& keys, const ScoreBound& bound,
               const PoolRows& rows, int64_t bin, const MatrixView<float>& max,
               const MatrixView<double>& sum) {
  const FloatTag df;
  HWY_ALIGN float scores[kGroupRows * kPartKeys];
  for_each_part(head, bound, rows, [&](const Piece& part) HWY_ATTR {
    for (int64_t first = 0; first < rows.count(); first += kGroupRows) {
      const int64_t count = std::min<int64_t>(rows.count() - first, kGroupRows);
      score_rows(head, keys, rows, first, count, part, scores);
      for (int64_t r = 0; r < count; ++r) {
        float* weights = scores + r * part.stride();
        const auto place = static_cast<size_t>(first + r);
        for (int64_t c = 0; c < part.width; c += kFloatLanes) {
          hn::Store(weights_at(weights + c, rows.lse_high[place], rows.lse_low[place]), df,
                    weights + c);
        }
        fold_along(weights, weights, part.key - head.columns.begin, part.width, bin,
                   max.row(first + r), sum.row(first + r));
      }
    }
  });
}

void pool_row_range(const HeadRule& head, const Panels& keys, const ScoreBound& bound, int64_t row,
                    std::span<const double> lse, int64_t bin, const MatrixView<float>& max,
                    const MatrixView<double>& sum) {
  std::vector<int64_t> numbers(lse.size());
  std::iota(numbers.begin(), numbers.end(), row);
  pool_blocks(head, keys, bound, PoolRows(head, numbers, lse), bin, max, sum);
}

void pool_range_columns(const HeadRule& head, const Panels& keys, const ScoreBound& bound,
                        int64_t row, std::span<const double> lse, int64_t bin,
                        const MatrixView<float>& max, const MatrixView<float>& sum) {
  std::vector<int64_t> numbers(lse.size());
  std::iota(numbers.begin(), numbers.end(), row);
  pool_columns(head, keys, bound, PoolRows(head, numbers, lse), bin, max, sum);
}

void pool_row_list(const HeadRule& head, const Panels& keys, const ScoreBound& bound,
                   std::span<const int64_t> rows, std::span<const double> lse, int64_t bin,
                   const MatrixView<float>& max, const MatrixView<double>& sum) {
  pool_rows(head, keys, bound, PoolRows(head, rows, lse), bin, max, sum);
}

}  // namespace fovea::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea {

HWY_EXPORT(pool_row_range);
HWY_EXPORT(pool_range_columns);
HWY_EXPORT(pool_row_list);

HeadPools::HeadPools(const AttentionInputs& inputs, int64_t head, KeyRange columns)
    : rule_(inputs, head, columns),
      keys_(Panels::of_keys(inputs.keys, inputs.shape().kv_head(head), columns)),
      bound_(rule_, keys_) {}

void HeadPools::add_blocks(int64_t row, std::span<const double> lse, int64_t bin,
                           MatrixView<float> max, MatrixView<double> sum) const {
  FOVEA_ASSERT((static_cast<int64_t>(lse.size()) + bin - 1) / bin == max.rows);
  FOVEA_ASSERT(max.rows == sum.rows && max.cols == sum.cols);
  if (lse.empty()) return;
  HWY_DYNAMIC_DISPATCH(pool_row_range)(rule_, keys_, bound_, row, lse, bin, max, sum);
}

void HeadPools::add_columns(int64_t row, std::span<const double> lse, int64_t bin,
                            MatrixView<float> max, MatrixView<float> sum) const {
  FOVEA_ASSERT((static_cast<int64_t>(lse.size()) + bin - 1) / bin == max.rows);
  FOVEA_ASSERT(max.rows == sum.rows && max.cols == sum.cols);
  if (lse.empty()) return;
  HWY_DYNAMIC_DISPATCH(pool_range_columns)(rule_, keys_, bound_, row, lse, bin, max, sum);
}

void HeadPools::add_rows(std::span<const int64_t> rows, std::span<const double> lse, int64_t bin,
                         MatrixView<float> max, MatrixView<double> sum) const {
  FOVEA_ASSERT(rows.size() == lse.size() && static_cast<int64_t>(rows.size()) == max.rows);
  FOVEA_ASSERT(max.rows == sum.rows && max.cols == sum.cols);
  if (rows.empty()) return;
  HWY_DYNAMIC_DISPATCH(pool_row_list)(rule_, keys_, bound_, rows, lse, bin, max, sum);
}

}  // namespace fovea
#endif  // HWY_ONCE
