#include "fovea/text/pattern.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/text/unicode.h"

namespace fovea {
namespace {

template <typename Matches>
void add_by_character(std::string_view text, const Matches& matches,
                      std::vector<PatternPiece>& pieces) {
  uint32_t last = 0;
  for (uint32_t offset = 0; offset < text.size();) {
    const Character character = character_at(text, offset);
    const uint32_t end = offset + character.bytes;
    if (matches(character.code)) {
      if (last < offset) pieces.push_back({{last, offset}, false});
      pieces.push_back({{offset, end}, true});
      last = end;
    }
    offset = end;
  }
  if (last < text.size()) pieces.push_back({{last, static_cast<uint32_t>(text.size())}, false});
}

void add_matches(std::string_view text, const std::vector<ByteSpan>& matches,
                 std::vector<PatternPiece>& pieces) {
  uint32_t last = 0;
  for (const ByteSpan& match : matches) {
    if (last < match.begin) pieces.push_back({{last, match.begin}, false});
    pieces.push_back({match, true});
    last = match.end;
  }
  if (last < text.size()) pieces.push_back({{last, static_cast<uint32_t>(text.size())}, false});
}

}  // namespace

PatternFinder::PatternFinder(const Pattern& pattern) : pattern_(pattern) {
  if (const auto* regex = std::get_if<Regex>(&pattern.kind_)) matcher_.emplace(*regex);
}

const std::vector<PatternPiece>& PatternFinder::pieces(std::string_view text) {
  pieces_.clear();
  if (matcher_) {
    add_matches(text, matcher_->find_all(text), pieces_);
  } else if (const auto* predicate = std::get_if<Pattern::Predicate>(&pattern_.kind_)) {
    add_by_character(text, *predicate, pieces_);
  } else if (const auto* wanted = std::get_if<char32_t>(&pattern_.kind_)) {
    add_by_character(
        text, [&](char32_t code) { return code == *wanted; }, pieces_);
  } else {
    add_matches(text, {}, pieces_);
  }
  return pieces_;
}

Pattern make_pattern(const Json& json, std::string_view where) {
  if (const Json* text = json.find("String")) {
    const std::string& literal = text->as_string(where);
    if (literal.empty()) return Pattern();
    const std::u32string codes = decode_utf8(literal);
    return codes.size() == 1 ? Pattern(codes[0]) : Pattern(Regex::literal(literal, where));
  }
  if (const Json* text = json.find("Regex")) return Pattern(Regex(text->as_string(where), where));
  fail(ErrorKind::kBadFile, "{}: a pattern should have the member 'String' or 'Regex'", where);
}

SplitBehavior parse_split_behavior(std::string_view name, std::string_view where) {
  if (name == "Removed") return SplitBehavior::kRemoved;
  if (name == "Isolated") return SplitBehavior::kIsolated;
  if (name == "MergedWithPrevious") return SplitBehavior::kMergedWithPrevious;
  if (name == "MergedWithNext") return SplitBehavior::kMergedWithNext;
  if (name == "Contiguous") return SplitBehavior::kContiguous;
  fail(ErrorKind::kBadFile, "{}: the split behavior '{}' is not known", where, name);
}

void split(std::span<const PatternPiece> pieces, SplitBehavior behavior, bool invert,
           std::vector<ByteSpan>& parts) {
  parts.clear();
  const bool backwards = behavior == SplitBehavior::kMergedWithNext;
  bool before = false;
  for (size_t i = 0; i < pieces.size(); ++i) {
    const auto& [span, matched] = pieces[backwards ? pieces.size() - 1 - i : i];
    const bool is_match = matched != invert;
    bool join = false;
    if (behavior == SplitBehavior::kRemoved && is_match) continue;
    if (behavior == SplitBehavior::kContiguous) join = is_match == before;
    if (behavior == SplitBehavior::kMergedWithPrevious || backwards) join = is_match && !before;
    if (join && !parts.empty()) {
      if (backwards) {
        parts.back().begin = span.begin;
      } else {
        parts.back().end = span.end;
      }
    } else {
      parts.push_back(span);
    }
    before = is_match;
  }
  if (backwards) std::reverse(parts.begin(), parts.end());
}

}  // namespace fovea
