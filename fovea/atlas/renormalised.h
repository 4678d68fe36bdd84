// A record whose rows share out their weight among fewer columns.
#pragma once

#include <memory>
#include <span>

#include "fovea/atlas/head_choice.h"
#include "fovea/capture/attention_record.h"

namespace fovea {

// Rows divided by what they leave to other columns: the mask forbids `left_out`, and each LSE is
// that of the rest. For several heads, the rows of their mean are divided. A row that sees nothing
// else has weights 0. Throws Error{kUnsupported} for a maximum, whose rows are no shares.
std::shared_ptr<const AttentionRecord> renormalised(
    const std::shared_ptr<const AttentionRecord>& record, HeadChoice head,
    std::span<const int64_t> left_out);

}  // namespace fovea
