// Puts the pieces of words of an axis together, and finds the position that a user names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/capture/run.h"

namespace fovea {

// Positions [begin, end) that are shown as one.
struct PositionGroup {
  int64_t begin = 0;
  int64_t end = 0;

  int64_t size() const { return end - begin; }
  bool operator==(const PositionGroup&) const = default;
};

// Groups neighbours of one word. If the axis does not say which word a position belongs to, its
// source text is split at white space and punctuation.
std::vector<PositionGroup> word_groups(const Axis& axis);
// Groups `size` neighbours at a time; 1: every position by itself.
std::vector<PositionGroup> block_groups(const Axis& axis, int64_t size);

// The axis with one position per group. A word shows its source text, a block "first…last".
Axis grouped_axis(const Axis& axis, const std::vector<PositionGroup>& groups);

// A position's text as a user would type it, without the marks of spaces and word pieces.
std::string plain_label(const Axis& axis, int64_t index);

// What tells positions with the same plain_label() apart: "" for the first, then "·2", "·3", ...
std::vector<std::string> label_numbers(const Axis& axis);
// Both together: the second "the" is "the·2".
std::vector<std::string> numbered_labels(const Axis& axis);

struct FoundToken {
  int64_t index = 0;
  std::string note;  // what was chosen if several fit; else empty
};

// Finds a position by `token`: its label or numbered_labels() of it, a word of several pieces (the
// last piece is taken, and the note says so), a number from 0, or #number if labels are numbers
// too. Throws Error{kInvalidArgument} about the field that lists the places if it occurs more than
// once, or else what there is.
FoundToken token_named(const Axis& axis, std::string_view token, Field field = {"token"});
// The same for an axis made by grouped_axis(axis, groups): finds the word itself, or the word that
// the piece belongs to.
FoundToken word_named(const Axis& axis, const std::vector<PositionGroup>& groups,
                      std::string_view token, Field field = {"token"});

}  // namespace fovea
