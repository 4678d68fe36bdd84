// Patterns that a text is cut at: characters of a kind, a string or a regular expression.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "fovea/base/json.h"
#include "fovea/text/aligned_text.h"
#include "fovea/text/regex.h"

namespace fovea {

struct PatternPiece {
  ByteSpan span;
  bool is_match;
};

// Const members may be called from any thread.
class Pattern {
 public:
  using Predicate = bool (*)(char32_t);
  explicit Pattern(Predicate predicate) : kind_(predicate) {}
  explicit Pattern(char32_t character) : kind_(character) {}
  explicit Pattern(Regex regex) : kind_(std::move(regex)) {}
  Pattern() = default;  // matches nothing

 private:
  friend class PatternFinder;
  std::variant<std::monostate, Predicate, char32_t, Regex> kind_;
};

// One thread's use of a pattern, which must outlive it.
class PatternFinder {
 public:
  explicit PatternFinder(const Pattern& pattern);
  // The whole text, in order, as matches and what lies between them; good until the next call.
  const std::vector<PatternPiece>& pieces(std::string_view text);

 private:
  const Pattern& pattern_;
  std::optional<RegexMatcher> matcher_;
  std::vector<PatternPiece> pieces_;
};

// {"String": "…"} or {"Regex": "…"}.
Pattern make_pattern(const Json& json, std::string_view where);

enum class SplitBehavior { kRemoved, kIsolated, kMergedWithPrevious, kMergedWithNext, kContiguous };
SplitBehavior parse_split_behavior(std::string_view name, std::string_view where);

// Puts the parts that are left into `parts`; `invert` swaps matches and the rest.
void split(std::span<const PatternPiece> pieces, SplitBehavior behavior, bool invert,
           std::vector<ByteSpan>& parts);

}  // namespace fovea
