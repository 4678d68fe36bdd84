// How much of one row's attention falls on a stretch of columns, in every layer and head. It shows
// which heads find the needle in a long text.
//
//   mass(layer, head) = sum over j in the span of A(row, j)
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fovea/capture/attention_record.h"
#include "fovea/capture/position_span.h"

namespace fovea {

// One number for each head, layer after layer; each costs N d. Throws Error{kInvalidArgument} if
// the row or the span is not there.
std::vector<double> span_mass(std::span<const std::shared_ptr<const AttentionRecord>> layers,
                              int64_t row, PositionSpan span);

// What the span would get if the row looked evenly at everything that it may see; 0 if it sees
// nothing.
double even_share(const AttentionRecord& record, int64_t row, PositionSpan span);

}  // namespace fovea
