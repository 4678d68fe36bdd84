// Words of an axis: pieces of tokens put together, and finding the one that a user names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/capture/run.h"

namespace fovea {

// Positions [begin, end) that are shown as one.
struct PositionGroup {
  int64_t begin = 0;
  int64_t end = 0;

  int64_t size() const { return end - begin; }
  bool operator==(const PositionGroup&) const = default;
};

// Neighbours of one word together. An axis that does not say its words is split at white space and
// punctuation of its source text.
std::vector<PositionGroup> word_groups(const Axis& axis);
// `size` neighbours at a time; 1: every position by itself.
std::vector<PositionGroup> block_groups(const Axis& axis, int64_t size);

// The axis with one position per group: a word under its source text, a block as "first…last".
Axis grouped_axis(const Axis& axis, const std::vector<PositionGroup>& groups);

// A position's text as a user would type it: without marks of spaces and joints.
std::string plain_label(const Axis& axis, int64_t index);

struct FoundToken {
  int64_t index = 0;
  std::string note;  // what was chosen where there was a choice; else empty
};

// `token` is the label of a position, a word of several pieces (its last piece is taken and the
// note says so), a number from 0, or #number where numbers are labels too. Throws
// Error{kInvalidArgument} that says where it occurs if it does so more than once, or what there is.
FoundToken token_named(const Axis& axis, std::string_view token);
// The same for an axis made by grouped_axis(axis, groups): the word itself, or the one that the
// piece belongs to.
FoundToken word_named(const Axis& axis, const std::vector<PositionGroup>& groups,
                      std::string_view token);

}  // namespace fovea
