// How much attention a position receives from all that look at it, the keys that caches of long
// texts keep (H2O, Zhang et al. 2023, arXiv:2306.14048; SnapKV, Li et al. 2024, arXiv:2404.14469).
//
//   sum(j)  = sum_i A(i, j)           over the rows that look: all, or the last `window`
//   mean(j) = sum(j) / how many of them may see j
//
// Under a causal mask the sum favours early positions, which more rows see. A row that is padding
// does not look. One pass over the map, O(N) memory.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "fovea/atlas/attention_map.h"

namespace fovea {

enum class ColumnTotal { kSum, kMean };

// One number for each row: 1 if it looks, 0 if it is padding or before the last `window` rows (0:
// all look).
std::vector<double> rows_that_look(const AttentionRecord& record, int64_t window = 0);

// How many of the rows that look may see each column, by the mask alone. O(N log N).
std::vector<int64_t> looks_allowed(const AttentionRecord& record, int64_t window = 0);

// Of one head, or the mean of all. Columns that no row may see have 0.
std::vector<double> column_mass(const std::shared_ptr<const AttentionRecord>& record,
                                std::optional<int64_t> head, ColumnTotal total, int64_t window = 0);

}  // namespace fovea
