// A stretch of an axis: the tokens of a sentence, the rows of a window.
#pragma once

#include <cstdint>
#include <string_view>

#include "fovea/capture/run.h"

namespace fovea {

// Positions [begin, end).
struct PositionSpan {
  int64_t begin = 0;
  int64_t end = 0;

  int64_t size() const { return end - begin; }

  bool operator==(const PositionSpan&) const = default;
};

// Finds the stretch that `text` names. `text` is a part of the axis's source; all positions that
// hold a byte of it count. Or it gives positions by number, from 0: "12-20" (both ends included) or
// "12". If the source itself says "12-20", write "#12-20". Throws Error{kInvalidArgument} if the
// stretch is not there or is there more than once.
PositionSpan span_named(const Axis& axis, std::string_view text);

}  // namespace fovea
