#include "fovea/kernels/attention_tile.h"

#include <vector>

#include "fovea/kernels/head_rule.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/attention_tile.cc"  // re-included once per CPU target
#include "hwy/foreach_target.h"                               // IWYU pragma: keep

#include "fovea/kernels/attention_rows-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::HWY_NAMESPACE {

inline constexpr int64_t kTileKeys =
    256;  // scores of a group of rows stay in the first-level cache

// log A = scores - lse. The LSE comes in two parts because f32 cannot hold it well enough.
class LogWeights {
 public:
  explicit HWY_INLINE LogWeights(double lse)
      : high_(hn::Set(FloatTag(), static_cast<float>(lse))),
        low_(hn::Set(FloatTag(), static_cast<float>(lse - double{static_cast<float>(lse)}))) {}
  HWY_INLINE FloatVector of(const float* scores) const {
    return hn::Sub(hn::Sub(hn::Load(FloatTag(), scores), high_), low_);
  }

 private:
  FloatVector high_, low_;
};

// out[c] = exp(scores[c] - lse).
HWY_INLINE void weights_of(const float* HWY_RESTRICT scores, double lse, int64_t count,
                           float* HWY_RESTRICT out) {
  const FloatTag df;
  const LogWeights logs(lse);
  for (int64_t c = 0; c < count; c += kFloatLanes) {
    const auto weight = exp_f32(df, logs.of(scores + c));
    if (c + kFloatLanes <= count) {
      hn::StoreU(weight, df, out + c);
    } else {
      store_part(weight, out + c, count - c);
    }
  }
}

// -sum A log A over `count` keys, and out[c] = A where `out` is not null. A = 0 adds nothing,
// though log A is -infinity there.
HWY_INLINE double entropy_of(const float* HWY_RESTRICT scores, double lse, int64_t count,
                             float* HWY_RESTRICT out = nullptr) {
  const FloatTag df;
  const LogWeights logs(lse);
  auto sum = hn::Zero(df);
  for (int64_t c = 0; c < count; c += kFloatLanes) {
    const auto log_weight = logs.of(scores + c);
    const auto weight = exp_f32(df, log_weight);
    sum = hn::NegMulAdd(weight, hn::Max(log_weight, hn::Set(df, -100.0F)), sum);
    if (out == nullptr) continue;
    if (c + kFloatLanes <= count) {
      hn::StoreU(weight, df, out + c);
    } else {
      store_part(weight, out + c, count - c);
    }
  }
  return double{hn::GetLane(hn::SumOfLanes(df, sum))};
}

// Walks the scores of `rows` rows and the keys of `part`, and hands each piece of a row on:
// use(row, first key within part, scores, count). Scores are padded with -infinity to whole
// vectors.
template <typename Use>
HWY_INLINE void for_each_piece(const HeadRule& head, const Panels& keys, int64_t row, int64_t rows,
                               KeyRange part, const Use& use) {
  const int64_t depth = head.shape.head_dim;
  Tensor query_tensor = Tensor::uninitialized({kGroupRows, depth});
  float* queries = query_tensor.mutable_values<float>().data();
  HWY_ALIGN float scores[kGroupRows * kTileKeys];
  std::vector<float> query_terms(
      static_cast<size_t>(head.needs_query_terms() ? kGroupRows * head.entries : 0));
  for (int64_t first = 0; first < rows; first += kGroupRows) {
    const int64_t group = std::min<int64_t>(rows - first, kGroupRows);
    head.inputs.queries.read_rows(head.head, row + first, group, head.rule->scale, queries);
    if (head.needs_query_terms()) {
      table_terms(head.position_keys, queries, group, query_terms.data(), head.entries);
    }
    for (int64_t key = part.begin; key < part.end; key += kTileKeys) {
      const int64_t count = std::min(part.end - key, kTileKeys);
      score_group(head, keys, queries, query_terms.empty() ? nullptr : query_terms.data(),
                  row + first, group, key, count, scores, kTileKeys);
      for (int64_t r = 0; r < group; ++r) {
        float* piece = scores + r * kTileKeys;
        std::fill(piece + count, piece + (count + kFloatLanes - 1) / kFloatLanes * kFloatLanes,
                  kMinusInfinity);
        use(first + r, key - part.begin, piece, count);
      }
    }
  }
}

void fill_scores(const HeadRule& head, const Panels& keys, int64_t row, KeyRange part,
                 const MatrixView<float>& out) {
  for_each_piece(head, keys, row, out.rows, part,
                 [&](int64_t r, int64_t c, const float* scores, int64_t count)
                     HWY_ATTR { std::copy_n(scores, count, out.row(r) + c); });
}

void fill_weights(const HeadRule& head, const Panels& keys, int64_t row, KeyRange part,
                  const double* lse, const MatrixView<float>& out) {
  for_each_piece(head, keys, row, out.rows, part,
                 [&](int64_t r, int64_t c, const float* scores, int64_t count)
                     HWY_ATTR { weights_of(scores, lse[r], count, out.row(r) + c); });
}

void sum_entropy(const HeadRule& head, const Panels& keys, int64_t row, KeyRange part,
                 std::span<const double> lse, double* entropies) {
  for_each_piece(head, keys, row, static_cast<int64_t>(lse.size()), part,
                 [&](int64_t r, int64_t, const float* scores, int64_t count) HWY_ATTR {
                   entropies[r] += entropy_of(scores, lse[static_cast<size_t>(r)], count);
                 });
}

void fill_both(const HeadRule& head, const Panels& keys, int64_t row, KeyRange part,
               const double* lse, const MatrixView<float>& out, double* entropies) {
  for_each_piece(head, keys, row, out.rows, part,
                 [&](int64_t r, int64_t c, const float* scores, int64_t count) HWY_ATTR {
                   entropies[r] += entropy_of(scores, lse[r], count, out.row(r) + c);
                 });
}

void fill_dot_tile(const HeadsView& a, int64_t a_head, int64_t row, const Panels& columns,
                   const MatrixView<float>& out) {
  Tensor row_tensor = Tensor::uninitialized({kGroupRows, a.dim});
  float* from = row_tensor.mutable_values<float>().data();
  HWY_ALIGN float block[kGroupRows * kPanelWidth];
  for (int64_t first = 0; first < out.rows; first += kGroupRows) {
    const int64_t rows = std::min<int64_t>(out.rows - first, kGroupRows);
    a.read_rows(a_head, row + first, rows, 1, from);
    for (int64_t c = 0; c < out.cols; c += kPanelWidth) {
      dot_group(from, rows, a.dim, columns.panel(c / kPanelWidth), block, kPanelWidth);
      for (int64_t r = 0; r < rows; ++r) {
        std::copy_n(block + r * kPanelWidth, std::min(out.cols - c, kPanelWidth),
                    out.row(first + r) + c);
      }
    }
  }
}

}  // namespace fovea::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea {

HWY_EXPORT(fill_scores);
HWY_EXPORT(fill_weights);
HWY_EXPORT(sum_entropy);
HWY_EXPORT(fill_both);
HWY_EXPORT(fill_dot_tile);

HeadTiles::HeadTiles(const AttentionInputs& inputs, int64_t head, KeyRange columns)
    : rule_(inputs, head, columns),
      keys_(Panels::of_keys(inputs.keys, inputs.shape().kv_head(head), columns)) {}

void HeadTiles::scores(int64_t row, KeyRange part, MatrixView<float> out) const {
  check_part(part);
  HWY_DYNAMIC_DISPATCH(fill_scores)(rule_, keys_, row, part, out);
}

void HeadTiles::weights(int64_t row, KeyRange part, std::span<const double> lse,
                        MatrixView<float> out) const {
  check_part(part);
  FOVEA_ASSERT(static_cast<int64_t>(lse.size()) >= out.rows);
  HWY_DYNAMIC_DISPATCH(fill_weights)(rule_, keys_, row, part, lse.data(), out);
}

void HeadTiles::weights_and_entropy(int64_t row, KeyRange part, std::span<const double> lse,
                                    MatrixView<float> out, std::span<double> entropies) const {
  check_part(part);
  FOVEA_ASSERT(static_cast<int64_t>(lse.size()) == out.rows && entropies.size() == lse.size());
  HWY_DYNAMIC_DISPATCH(fill_both)(rule_, keys_, row, part, lse.data(), out, entropies.data());
}

void HeadTiles::add_entropy(int64_t row, KeyRange part, std::span<const double> lse,
                            std::span<double> entropies) const {
  check_part(part);
  FOVEA_ASSERT(entropies.size() == lse.size());
  HWY_DYNAMIC_DISPATCH(sum_entropy)(rule_, keys_, row, part, lse, entropies.data());
}

void HeadTiles::check_part([[maybe_unused]] KeyRange part) const {
  FOVEA_ASSERT(part.begin >= rule_.columns.begin && part.end <= rule_.columns.end);
  FOVEA_ASSERT((part.begin - rule_.columns.begin) % kPanelWidth == 0);
}

void dot_tile(const HeadsView& a, int64_t a_head, int64_t row, const HeadsView& b, int64_t b_head,
              KeyRange cols, MatrixView<float> out) {
  FOVEA_ASSERT(a.dim == b.dim && out.cols == cols.end - cols.begin);
  HWY_DYNAMIC_DISPATCH(fill_dot_tile)(a, a_head, row, Panels::of_keys(b, b_head, cols), out);
}

}  // namespace fovea
#endif  // HWY_ONCE
