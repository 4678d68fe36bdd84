// What turns q . k into a score: scale, bias, soft cap, mask and sink, as small values that can be
// stored, never as a matrix.
//
//   s(i, j) = scale * q_i . k_j + bias(i, j)
//   s(i, j) = cap * tanh(s(i, j) / cap)         where the model caps
//   s(i, j) = -infinity                         where the mask forbids
//   LSE(i)  = log(sum_j exp s(i, j) [+ exp sink])
//   A(i, j) = exp(s(i, j) - LSE(i))
//
// Rows i are queries and columns j keys. A row that sees no key has LSE 0 and weights 0.
// The functions here are the plain definition; fovea/kernels has the fast form of the same.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "fovea/tensor/tensor.h"

namespace fovea {

// The sizes that a rule is used with.
struct AttentionShape {
  int64_t heads = 1;
  int64_t kv_heads = 1;  // divides heads; query heads h share key head h / (heads / kv_heads)
  int64_t rows = 0;
  int64_t cols = 0;
  int64_t head_dim = 0;
  int64_t value_dim = 0;

  int64_t kv_head(int64_t head) const { return head / (heads / kv_heads); }
};

// Half-open range of keys.
struct KeyRange {
  int64_t begin = 0;
  int64_t end = 0;
};

// Which keys a query sees: those that every part allows. Made with no part, it allows all.
struct Mask {
  // Place of row 0 on the key axis: how many keys came before the first query.
  int64_t query_offset = 0;
  // How many keys before and after its own place a query sees; none: all of them. A causal model
  // has ahead = 0, a sliding window of W keys behind = W - 1, ahead = 0.
  std::optional<int64_t> behind;
  std::optional<int64_t> ahead;
  // One entry per key, 0 for padding; empty: all valid.
  std::vector<uint8_t> key_valid;
  // A query sees keys of its own group only (image windows, chunks); both empty or both given.
  std::vector<int32_t> query_group;
  std::vector<int32_t> key_group;

  static Mask causal(int64_t offset = 0) { return {.query_offset = offset, .ahead = 0}; }

  // The keys that `behind` and `ahead` leave to row i, of `cols` keys. May be empty.
  KeyRange key_range(int64_t i, int64_t cols) const;
  bool allows(int64_t i, int64_t j) const;
  // Whether key_range() alone decides.
  bool range_only() const { return key_valid.empty() && key_group.empty(); }
};

// ALiBi (Press et al. 2022, arXiv:2108.12409): bias = -slope[head] * |place of i - j|.
struct AlibiSlopes {
  std::vector<float> slopes;  // [heads]
};

// A bias that depends on the head and on j - i only (T5's buckets): values[head, index[j - i + rows
// - 1]].
struct DistanceTable {
  Tensor values;               // f32 [heads, entries]
  std::vector<int32_t> index;  // [rows + cols - 1]
};

// A dense bias that is small because rows and columns index into it (Swin windows), or because the
// input is: values[head, row_index[i], col_index[j]]. Without an index the row or column itself
// counts.
struct DenseBias {
  Tensor values;  // f32 [heads or 1, table rows, table columns]
  std::vector<int32_t> row_index;
  std::vector<int32_t> col_index;
};

// Disentangled attention (DeBERTa, arXiv:2006.03654): bias = scale * (q_i . keys[head, e] +
// k_j . queries[head, e]) with e = index[j - i + rows - 1]. Either table may be empty.
struct PositionTables {
  Tensor keys;                 // f32 [heads, entries, head_dim] or empty
  Tensor queries;              // f32 [heads, entries, head_dim] or empty
  std::vector<int32_t> index;  // [rows + cols - 1]
};

using ScoreBias =
    std::variant<std::monostate, AlibiSlopes, DistanceTable, DenseBias, PositionTables>;

// A weight that is taken away: the row does not attend to the column, whatever their score. The
// mask says what can be; a cut edge is what somebody asked to be left out.
struct CutEdge {
  int64_t row = 0;
  int64_t col = 0;
  int64_t head = -1;  // -1: every head

  auto operator<=>(const CutEdge&) const = default;
};

struct ScoreRule {
  float scale = 1;
  Mask mask;
  ScoreBias bias;
  float soft_cap = 0;             // 0: none
  std::vector<float> sink_logit;  // [heads]; empty: none
  std::vector<CutEdge> cuts;      // rising, few: their scores are -infinity
};

// Throws Error{kInvalidArgument} unless every part fits `shape`: lengths, indices, places; and
// Error{kBadFile} where a bias or a sink, which are weights of a model, holds no finite number.
void validate(const ScoreRule& rule, const AttentionShape& shape);

// s(i, j) in double, straight from the definition: the reference that fast code is tested against.
double reference_score(const ScoreRule& rule, const AttentionShape& shape, int64_t head, int64_t i,
                       int64_t j, std::span<const float> query, std::span<const float> key);

// T5's bucket of every distance j - i, as DistanceTable::index wants it (Raffel et al. 2020,
// arXiv:1910.10683). `bidirectional` is true in encoders.
std::vector<int32_t> t5_bucket_index(int64_t rows, int64_t cols, int64_t query_offset,
                                     bool bidirectional, int num_buckets, int max_distance);

}  // namespace fovea
