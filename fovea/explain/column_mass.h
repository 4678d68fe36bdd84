// How much attention a position receives from all rows that look at it. Caches of long texts keep
// the keys that receive most (H2O, Zhang et al. 2023, arXiv:2306.14048; SnapKV, Li et al. 2024,
// arXiv:2404.14469).
//
//   sum(j)  = sum_i A(i, j)           over the rows that look: all, or the last `window`
//   mean(j) = sum(j) / how many of them may see j
//
// Under a causal mask the sum favours early positions, because more rows see them. Rows of padding
// do not look. One pass over the map, O(N) memory.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "fovea/atlas/attention_map.h"

namespace fovea {

enum class ColumnTotal { kSum, kMean };

// One number for each row: 1 if it looks, 0 if it is padding or before the last `window` rows. With
// `window` 0 all rows look.
std::vector<double> rows_that_look(const AttentionRecord& record, int64_t window = 0);

// How many rows that look may see each column, by the mask alone. O(N log N).
std::vector<int64_t> looks_allowed(const AttentionRecord& record, int64_t window = 0);

// The sums or means for one head, or for the mean of all heads. Columns that no row may see have 0.
std::vector<double> column_mass(const std::shared_ptr<const AttentionRecord>& record,
                                std::optional<int64_t> head, ColumnTotal total, int64_t window = 0);

}  // namespace fovea
