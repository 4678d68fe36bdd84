#include "fovea/capture/position_span.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/base/parse.h"

namespace fovea {
namespace {

// "12-20" or "12"; nothing if it is neither.
std::optional<PositionSpan> numbered_span(const Axis& axis, std::string_view text) {
  const size_t dash = text.find('-');
  const auto first = parse_number<int64_t>(text.substr(0, dash));
  const auto last = dash == text.npos ? first : parse_number<int64_t>(text.substr(dash + 1));
  if (!first || !last) return std::nullopt;
  const auto count = static_cast<int64_t>(axis.positions.size());
  if (*first > *last || *last >= count) {
    fail(ErrorKind::kInvalidArgument,
         "positions {} are asked for but '{}' has 0 to {}; give FIRST-LAST", text, axis.name,
         count - 1);
  }
  return PositionSpan{*first, *last + 1};
}

// Bytes at which `text` begins in the source, those that overlap too.
std::vector<size_t> places_of(std::string_view source, std::string_view text) {
  std::vector<size_t> places;
  for (size_t at = source.find(text); at != source.npos; at = source.find(text, at + 1)) {
    places.push_back(at);
  }
  return places;
}

// Empty where no position holds a byte of it.
PositionSpan positions_at(const Axis& axis, size_t begin_byte, size_t end_byte) {
  const auto begin = static_cast<int64_t>(begin_byte), end = static_cast<int64_t>(end_byte);
  PositionSpan span;
  for (size_t i = 0; i < axis.positions.size(); ++i) {
    const Position& position = axis.positions[i];
    if (std::max(position.source_begin, begin) >= std::min(position.source_end, end)) continue;
    if (span.size() == 0) span.begin = static_cast<int64_t>(i);
    span.end = static_cast<int64_t>(i) + 1;
  }
  return span;
}

[[noreturn]] void fail_ambiguous(const Axis& axis, std::string_view text,
                                 const std::vector<size_t>& places) {
  constexpr size_t kShown = 5;
  std::vector<std::string> spans;
  for (size_t i = 0; i < std::min(places.size(), kShown); ++i) {
    const PositionSpan span = positions_at(axis, places[i], places[i] + text.size());
    spans.push_back(fmt::format("{}-{}", span.begin, span.end - 1));
  }
  if (places.size() > kShown) spans.emplace_back("...");
  fail(ErrorKind::kInvalidArgument,
       "'{}' occurs {} times in the text; give more of it, or one of the positions {}", text,
       places.size(), fmt::join(spans, ", "));
}

}  // namespace

PositionSpan span_named(const Axis& axis, std::string_view text) {
  const std::string_view wanted = trimmed(text);
  if (wanted.starts_with('#')) {
    if (const auto span = numbered_span(axis, wanted.substr(1))) return *span;
  }
  if (wanted.empty()) {
    fail(ErrorKind::kInvalidArgument, "an empty span is asked for; give a part of the text");
  }
  if (axis.source.empty()) {
    if (const auto span = numbered_span(axis, wanted)) return *span;
    fail(ErrorKind::kInvalidArgument,
         "'{}' is asked for but the {} have no text; give their numbers as FIRST-LAST, 0 to {}",
         wanted, axis.name, static_cast<int64_t>(axis.positions.size()) - 1);
  }
  const std::vector<size_t> places = places_of(axis.source, wanted);
  if (places.size() > 1) fail_ambiguous(axis, wanted, places);
  if (places.size() == 1) {
    const PositionSpan span = positions_at(axis, places.front(), places.front() + wanted.size());
    if (span.size() > 0) return span;
    fail(ErrorKind::kInvalidArgument,
         "'{}' is in the text but in none of the {} positions of '{}'; it was cut off", wanted,
         axis.positions.size(), axis.name);
  }
  if (const auto span = numbered_span(axis, wanted)) return *span;
  fail(ErrorKind::kInvalidArgument,
       "'{}' is not in the text of '{}' ({} bytes, {} positions); give a part of it as it is "
       "written, or positions as FIRST-LAST",
       wanted, axis.name, axis.source.size(), axis.positions.size());
}

}  // namespace fovea
