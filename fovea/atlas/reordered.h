// A record whose rows and columns stand in another order: what lies together in a picture can lie
// together in its map.
#pragma once

#include <memory>
#include <span>

#include "fovea/capture/attention_record.h"

namespace fovea {

// Whether every weight stays what it is in any order of rows and columns. Not where scores or the
// mask count how far positions are apart, and not of weights that are stored.
bool can_be_reordered(const AttentionRecord& record);

// Row i of the result is row rows[i] of the record, and column j is cols[j]: each a permutation of
// all. Queries, keys, values, LSE and the rule are copied, nothing else. Throws Error{kUnsupported}
// unless can_be_reordered().
std::shared_ptr<const AttentionRecord> reordered(const AttentionRecord& record,
                                                 std::span<const int64_t> rows,
                                                 std::span<const int64_t> cols);

}  // namespace fovea
