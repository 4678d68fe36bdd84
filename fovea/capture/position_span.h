// A stretch of an axis: the tokens of a sentence, the rows of a window.
#pragma once

#include <cstdint>
#include <string_view>

#include "fovea/capture/run.h"

namespace fovea {

// Half-open.
struct PositionSpan {
  int64_t begin = 0;
  int64_t end = 0;

  int64_t size() const { return end - begin; }

  bool operator==(const PositionSpan&) const = default;
};

// `text` is a stretch of the axis's source, of which every position counts that holds a byte of it;
// or it names positions by number, from 0: "12-20" (both are in it) or "12", with # before where
// the source says "12-20" too. Throws Error{kInvalidArgument} if it is not there or more than once.
PositionSpan span_named(const Axis& axis, std::string_view text);

}  // namespace fovea
