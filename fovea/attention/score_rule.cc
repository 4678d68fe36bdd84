#include "fovea/attention/score_rule.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fovea/base/overloaded.h"

namespace fovea {
namespace {

void check_length(std::string_view what, size_t found, int64_t wanted) {
  if (static_cast<int64_t>(found) != wanted) {
    fail(ErrorKind::kInvalidArgument, "{} has {} entries but the attention needs {}", what, found,
         wanted);
  }
}

void check_index(std::string_view what, const std::vector<int32_t>& index, int64_t limit) {
  for (const int32_t entry : index) {
    if (entry < 0 || entry >= limit) {
      fail(ErrorKind::kInvalidArgument, "{} points at entry {} but the table has {}", what, entry,
           limit);
    }
  }
}

void check_finite(std::string_view what, std::span<const float> values) {
  for (const float value : values) {
    if (!std::isfinite(value)) {
      fail(ErrorKind::kBadFile, "{} holds {}; every entry must be a finite number", what, value);
    }
  }
}

void check_table(std::string_view what, const Tensor& table, const Shape& wanted) {
  if (table.dtype() != DType::kF32 || !(table.shape() == wanted)) {
    fail(ErrorKind::kInvalidArgument, "{} is {} {} but the attention needs F32 {}", what,
         dtype_name(table.dtype()), to_string(table.shape()), to_string(wanted));
  }
}

void validate_mask(const Mask& mask, const AttentionShape& shape) {
  if (mask.behind.value_or(0) < 0 || mask.ahead.value_or(0) < 0) {
    fail(ErrorKind::kInvalidArgument,
         "a window of {} keys behind and {} ahead is negative; use 0 or more",
         mask.behind.value_or(0), mask.ahead.value_or(0));
  }
  // Keeps place +- window far from overflow. Compared on both sides: the least number has no
  // absolute value.
  constexpr int64_t kFarthest = int64_t{1} << 40;
  if (mask.query_offset < -kFarthest || mask.query_offset > kFarthest) {
    fail(ErrorKind::kInvalidArgument,
         "the first query's place is {} but must be within {} of the first key", mask.query_offset,
         kFarthest);
  }
  if (!mask.key_valid.empty()) check_length("the key padding", mask.key_valid.size(), shape.cols);
  if (!mask.query_group.empty() || !mask.key_group.empty()) {
    check_length("the query groups", mask.query_group.size(), shape.rows);
    check_length("the key groups", mask.key_group.size(), shape.cols);
  }
}

void validate_bias(const ScoreBias& bias, const AttentionShape& shape) {
  const int64_t distances = std::max<int64_t>(shape.rows + shape.cols - 1, 0);
  std::visit(
      Overloaded{
          [](const std::monostate&) {},
          [&](const AlibiSlopes& alibi) {
            check_length("the ALiBi slopes", alibi.slopes.size(), shape.heads);
            check_finite("the ALiBi slopes", alibi.slopes);
          },
          [&](const DistanceTable& table) {
            const int64_t entries = table.values.rank() == 2 ? table.values.size(1) : 0;
            check_table("the distance table", table.values, {shape.heads, entries});
            check_finite("the distance table", table.values.values<float>());
            check_length("the distance index", table.index.size(), distances);
            check_index("the distance index", table.index, entries);
          },
          [&](const DenseBias& dense) {
            if (dense.values.rank() != 3 ||
                (dense.values.size(0) != 1 && dense.values.size(0) != shape.heads)) {
              fail(ErrorKind::kInvalidArgument,
                   "the dense bias is {} but the attention needs [1 or {}, rows, columns]",
                   to_string(dense.values.shape()), shape.heads);
            }
            const int64_t rows = dense.row_index.empty() ? shape.rows : dense.values.size(1);
            const int64_t cols = dense.col_index.empty() ? shape.cols : dense.values.size(2);
            check_table("the dense bias", dense.values, {dense.values.size(0), rows, cols});
            check_finite("the dense bias", dense.values.values<float>());
            if (!dense.row_index.empty()) {
              check_length("the bias row index", dense.row_index.size(), shape.rows);
              check_index("the bias row index", dense.row_index, rows);
            }
            if (!dense.col_index.empty()) {
              check_length("the bias column index", dense.col_index.size(), shape.cols);
              check_index("the bias column index", dense.col_index, cols);
            }
          },
          [&](const PositionTables& tables) {
            check_length("the position index", tables.index.size(), distances);
            if (!tables.keys.empty() && !tables.queries.empty() &&
                !(tables.keys.shape() == tables.queries.shape())) {
              fail(ErrorKind::kInvalidArgument,
                   "the position tables are {} and {} but must be alike",
                   to_string(tables.keys.shape()), to_string(tables.queries.shape()));
            }
            for (const Tensor* table : {&tables.keys, &tables.queries}) {
              if (table->empty()) continue;
              const int64_t entries = table->rank() == 3 ? table->size(1) : 0;
              check_table("a position table", *table, {shape.heads, entries, shape.head_dim});
              check_finite("a position table", table->values<float>());
              check_index("the position index", tables.index, entries);
            }
          }},
      bias);
}

double dot_product(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (size_t c = 0; c < a.size(); ++c) sum += double{a[c]} * double{b[c]};
  return sum;
}

// scale * (terms of q and k) + bias, before cap and mask.
double bias_at(const ScoreRule& rule, const AttentionShape& shape, int64_t head, int64_t i,
               int64_t j, std::span<const float> query, std::span<const float> key) {
  const auto distance = static_cast<size_t>(j - i + shape.rows - 1);
  return std::visit(
      Overloaded{[](const std::monostate&) { return 0.0; },
                 [&](const AlibiSlopes& alibi) {
                   const double apart = static_cast<double>(i + rule.mask.query_offset - j);
                   return -double{alibi.slopes[static_cast<size_t>(head)]} * std::abs(apart);
                 },
                 [&](const DistanceTable& table) {
                   return double{table.values.matrix<float>()(head, table.index[distance])};
                 },
                 [&](const DenseBias& dense) {
                   const int64_t r = dense.row_index.empty() ? i : dense.row_index[size_t(i)];
                   const int64_t c = dense.col_index.empty() ? j : dense.col_index[size_t(j)];
                   const int64_t plane = dense.values.size(0) == 1 ? 0 : head;
                   return double{dense.values.matrix<float>(plane)(r, c)};
                 },
                 [&](const PositionTables& tables) {
                   double sum = 0;
                   const int32_t entry = tables.index[distance];
                   const auto row_of = [&](const Tensor& table) {
                     return std::span<const float>(table.matrix<float>(head).row(entry),
                                                   static_cast<size_t>(shape.head_dim));
                   };
                   if (!tables.keys.empty()) sum += dot_product(query, row_of(tables.keys));
                   if (!tables.queries.empty()) sum += dot_product(key, row_of(tables.queries));
                   return double{rule.scale} * sum;
                 }},
      rule.bias);
}

void validate_cuts(std::span<const CutEdge> cuts, const AttentionShape& shape) {
  for (size_t i = 0; i < cuts.size(); ++i) {
    const CutEdge& cut = cuts[i];
    const bool there = cut.row >= 0 && cut.row < shape.rows && cut.col >= 0 &&
                       cut.col < shape.cols && cut.head >= -1 && cut.head < shape.heads;
    if (there && (i == 0 || cuts[i - 1] < cut)) continue;
    fail(ErrorKind::kInvalidArgument,
         "the edge from row {} to column {} of head {} cannot be cut among {} x {} of {} heads, or "
         "is named twice",
         cut.row, cut.col, cut.head, shape.rows, shape.cols, shape.heads);
  }
}

}  // namespace

KeyRange Mask::key_range(int64_t i, int64_t cols) const {
  const int64_t place = i + query_offset;
  KeyRange range{0, cols};
  if (behind && *behind < place) range.begin = std::min(place - *behind, cols);
  if (ahead && *ahead < cols - place) range.end = std::max<int64_t>(place + *ahead + 1, 0);
  range.end = std::max(range.begin, std::min(range.end, cols));
  return range;
}

bool Mask::allows(int64_t i, int64_t j) const {
  const int64_t apart = i + query_offset - j;  // > 0: the key lies behind
  if (behind && apart > *behind) return false;
  if (ahead && -apart > *ahead) return false;
  const auto key = static_cast<size_t>(j);
  if (!key_valid.empty() && key_valid[key] == 0) return false;
  return key_group.empty() || key_group[key] == query_group[static_cast<size_t>(i)];
}

void validate(const ScoreRule& rule, const AttentionShape& shape) {
  if (shape.heads < 1 || shape.kv_heads < 1 || shape.heads % shape.kv_heads != 0) {
    fail(ErrorKind::kInvalidArgument, "{} query heads cannot share {} key heads evenly",
         shape.heads, shape.kv_heads);
  }
  if (shape.head_dim < 1 || shape.rows < 0 || shape.cols < 0) {
    fail(ErrorKind::kInvalidArgument, "attention of {} rows, {} columns and head size {} cannot be",
         shape.rows, shape.cols, shape.head_dim);
  }
  // A file without rows or columns may claim any number of heads of any size; with these, products
  // of two stay far from overflow.
  constexpr int64_t kMostHeads = int64_t{1} << 30;
  if (std::max({shape.heads, shape.head_dim, shape.value_dim}) > kMostHeads) {
    fail(ErrorKind::kInvalidArgument,
         "attention of {} heads of size {} and {} cannot be; {} is the most", shape.heads,
         shape.head_dim, shape.value_dim, kMostHeads);
  }
  if (!std::isfinite(rule.scale)) {
    fail(ErrorKind::kInvalidArgument, "the score scale is {}; it must be a finite number",
         rule.scale);
  }
  if (!std::isfinite(rule.soft_cap) || rule.soft_cap < 0) {
    fail(ErrorKind::kInvalidArgument, "the soft cap is {}; it must be 0 (none) or above",
         rule.soft_cap);
  }
  if (!rule.sink_logit.empty()) {
    check_length("the sink logits", rule.sink_logit.size(), shape.heads);
    check_finite("the sink logits", rule.sink_logit);
  }
  validate_mask(rule.mask, shape);
  validate_bias(rule.bias, shape);
  validate_cuts(rule.cuts, shape);
}

double reference_score(const ScoreRule& rule, const AttentionShape& shape, int64_t head, int64_t i,
                       int64_t j, std::span<const float> query, std::span<const float> key) {
  const bool is_cut = std::ranges::any_of(rule.cuts, [&](const CutEdge& edge) {
    return edge.row == i && edge.col == j && (edge.head < 0 || edge.head == head);
  });
  if (is_cut || !rule.mask.allows(i, j)) return -std::numeric_limits<double>::infinity();
  double score = double{rule.scale} * dot_product(query, key);
  score += bias_at(rule, shape, head, i, j, query, key);
  if (rule.soft_cap > 0) score = rule.soft_cap * std::tanh(score / rule.soft_cap);
  return score;
}

std::vector<int32_t> t5_bucket_index(int64_t rows, int64_t cols, int64_t query_offset,
                                     bool bidirectional, int num_buckets, int max_distance) {
  std::vector<int32_t> index;
  for (int64_t distance = -(rows - 1); distance <= cols - 1; ++distance) {
    int64_t relative = distance - query_offset;  // key place - query place
    int buckets = num_buckets;
    int32_t bucket = 0;
    if (bidirectional) {
      buckets /= 2;
      if (relative > 0) bucket = buckets;
      relative = std::abs(relative);
    } else {
      relative = std::max<int64_t>(-relative, 0);
    }
    const int exact = buckets / 2;  // near distances have a bucket each, far ones share
    if (relative < exact) {
      bucket += static_cast<int32_t>(relative);
    } else {
      // In f32, as transformers computes it: the rounding decides which bucket an edge falls into.
      const float place = std::log(static_cast<float>(relative) / static_cast<float>(exact)) /
                          static_cast<float>(std::log(static_cast<double>(max_distance) / exact)) *
                          static_cast<float>(buckets - exact);
      bucket += std::min(exact + static_cast<int32_t>(place), buckets - 1);
    }
    index.push_back(bucket);
  }
  return index;
}

}  // namespace fovea
