// What a text is cut at: characters of a kind, a string or a regular expression.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "fovea/base/json.h"
#include "fovea/text/aligned_text.h"
#include "fovea/text/regex.h"

namespace fovea {

struct PatternPiece {
  ByteSpan span;
  bool is_match;
};

class Pattern {
 public:
  using Predicate = bool (*)(char32_t);
  explicit Pattern(Predicate predicate) : kind_(predicate) {}
  explicit Pattern(char32_t character) : kind_(character) {}
  explicit Pattern(Regex regex) : kind_(std::move(regex)) {}
  Pattern() = default;  // matches nothing

  // The whole text, in order, as matches and what lies between them.
  std::vector<PatternPiece> pieces(std::string_view text) const;

 private:
  std::variant<std::monostate, Predicate, char32_t, Regex> kind_;
};

// {"String": "…"} or {"Regex": "…"}.
Pattern make_pattern(const Json& json, std::string_view where);

enum class SplitBehavior { kRemoved, kIsolated, kMergedWithPrevious, kMergedWithNext, kContiguous };
SplitBehavior parse_split_behavior(std::string_view name, std::string_view where);

// The parts that are left; `invert` swaps matches and the rest.
std::vector<ByteSpan> split(std::vector<PatternPiece> pieces, SplitBehavior behavior,
                            bool invert = false);

}  // namespace fovea
