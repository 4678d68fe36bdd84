#include "fovea/capture/words.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>

#include "fovea/base/error.h"
#include "fovea/base/parse.h"
#include "fovea/base/utf8.h"

namespace fovea {
namespace {

// Marks that displayed tokens begin with: a space before, a joint to the last piece.
constexpr std::string_view kMarks[] = {"·", "‿", "▁", "Ġ"};

std::string_view without_marks(std::string_view text) {
  for (const std::string_view mark : kMarks) {
    if (text.size() > mark.size() && text.starts_with(mark)) return text.substr(mark.size());
  }
  if (text.size() > 2 && text.starts_with("##")) return text.substr(2);
  return text;
}

std::string_view source_text(const Axis& axis, int64_t begin, int64_t end) {
  const int64_t first = axis.positions[static_cast<size_t>(begin)].source_begin;
  const int64_t last = axis.positions[static_cast<size_t>(end - 1)].source_end;
  if (first < 0 || last <= first || last > static_cast<int64_t>(axis.source.size())) return "";
  return std::string_view(axis.source)
      .substr(static_cast<size_t>(first), static_cast<size_t>(last - first));
}

bool is_punctuation(char letter) {
  return letter > ' ' && letter < 0x7f && !(letter >= '0' && letter <= '9') &&
         !(letter >= 'A' && letter <= 'Z') && !(letter >= 'a' && letter <= 'z') && letter != '_';
}

// Whether the source text goes on from position i - 1 to position i within one word.
bool source_goes_on(const Axis& axis, int64_t i) {
  const auto& before = axis.positions[static_cast<size_t>(i - 1)];
  const auto& here = axis.positions[static_cast<size_t>(i)];
  if (before.special || here.special || here.source_begin >= here.source_end) return false;
  // Pieces of one character share its bytes.
  if (here.source_begin < before.source_end) return before.source_begin < before.source_end;
  if (here.source_begin > before.source_end || before.source_end == 0) return false;
  const char last = axis.source[static_cast<size_t>(before.source_end - 1)];
  const char next = axis.source[static_cast<size_t>(here.source_begin)];
  return kBlanks.find(next) == std::string_view::npos && !is_punctuation(last) &&
         !is_punctuation(next) && kBlanks.find(last) == std::string_view::npos;
}

bool same_word(const Axis& axis, bool has_words, int64_t i) {
  if (!has_words) return source_goes_on(axis, i);
  const int64_t word = axis.positions[static_cast<size_t>(i)].word;
  return word >= 0 && axis.positions[static_cast<size_t>(i - 1)].word == word;
}

constexpr std::string_view kNumberMark = "·";  // between a label and which of its kind it is

std::vector<int64_t> find_positions(const Axis& axis, std::string_view token) {
  std::vector<int64_t> found;
  for (int64_t i = 0; i < static_cast<int64_t>(axis.positions.size()); ++i) {
    if (axis.positions[static_cast<size_t>(i)].text == token || plain_label(axis, i) == token) {
      found.push_back(i);
    }
  }
  return found;
}

// The position that numbered_labels() calls so; "the·1" is the first of several.
std::optional<int64_t> numbered_position(const Axis& axis, std::string_view token) {
  const size_t mark = token.rfind(kNumberMark);
  if (mark == std::string_view::npos || mark == 0) return {};
  const auto number = parse_number<int64_t>(token.substr(mark + kNumberMark.size()));
  const std::vector<int64_t> found = find_positions(axis, token.substr(0, mark));
  if (!number || *number < 1 || *number > std::ssize(found)) return {};
  return found[static_cast<size_t>(*number - 1)];
}

[[noreturn]] void fail_several(std::string_view token, const std::vector<int64_t>& places,
                               Field field) {
  constexpr size_t kMostListed = 12;
  std::vector<std::string> names;
  for (const int64_t place : places) {
    if (names.size() == kMostListed) break;
    // A number that is a label too needs its mark.
    names.push_back((parse_number<int64_t>(token) ? "#" : "") + std::to_string(place));
  }
  const std::string more = places.size() > kMostListed ? ", …" : "";
  fail(ErrorKind::kInvalidArgument, field,
       "'{}' occurs {} times, at {}{}; give one of these numbers", token, places.size(),
       fmt::join(names, ", "), more);
}

std::string positions_text(const Axis& axis) {
  if (axis.name == "source" || axis.name == "target") return "tokens of the " + axis.name;
  return axis.name.empty() ? "positions" : axis.name;
}

[[noreturn]] void fail_missing(const Axis& axis, std::string_view token, Field field) {
  constexpr int64_t kMostListed = 12;
  const auto count = static_cast<int64_t>(axis.positions.size());
  std::vector<std::string> labels;
  for (int64_t i = 0; i < std::min(count, kMostListed); ++i) {
    labels.push_back(plain_label(axis, i));
  }
  fail(ErrorKind::kInvalidArgument, field,
       "'{}' is none of the {} {}: {}{}; give one of these or a number from 0 to {}", token, count,
       positions_text(axis), fmt::join(labels, ", "), count > kMostListed ? ", …" : "", count - 1);
}

int64_t position_named(const Axis& axis, std::string_view token, std::string_view digits,
                       Field field) {
  const auto number = parse_number<int64_t>(digits);
  const auto count = static_cast<int64_t>(axis.positions.size());
  if (!number) fail_missing(axis, token, field);
  if (*number < 0 || *number >= count) {
    fail(ErrorKind::kInvalidArgument, field, "position {} is asked for but there are {}, 0 to {}",
         *number, count, count - 1);
  }
  return *number;
}

}  // namespace

std::vector<PositionGroup> block_groups(const Axis& axis, int64_t size) {
  std::vector<PositionGroup> groups;
  const auto count = static_cast<int64_t>(axis.positions.size());
  for (int64_t begin = 0; begin < count; begin += size) {
    groups.push_back({begin, std::min(begin + size, count)});
  }
  return groups;
}

std::vector<PositionGroup> word_groups(const Axis& axis) {
  const bool has_words =
      std::ranges::any_of(axis.positions, [](const Position& p) { return p.word >= 0; });
  std::vector<PositionGroup> groups;
  for (int64_t i = 0; i < static_cast<int64_t>(axis.positions.size()); ++i) {
    if (i > 0 && same_word(axis, has_words, i)) {
      groups.back().end = i + 1;
    } else {
      groups.push_back({i, i + 1});
    }
  }
  return groups;
}

Axis grouped_axis(const Axis& axis, const std::vector<PositionGroup>& groups) {
  if (groups.size() == axis.positions.size()) return axis;
  Axis grouped{.name = axis.name, .source = axis.source, .positions = {}};
  for (const PositionGroup& group : groups) {
    const Position& first = axis.positions[static_cast<size_t>(group.begin)];
    const Position& last = axis.positions[static_cast<size_t>(group.end - 1)];
    Position position = first;
    if (group.size() > 1) {
      const bool one_word = first.word == last.word && !first.special && !last.special;
      const std::string_view text = trimmed(source_text(axis, group.begin, group.end));
      position.text = one_word && !text.empty() && text.find_first_of(kBlanks) == std::string::npos
                          ? to_one_line(text)
                          : first.text + "…" + last.text;
      position.source_end = std::max(first.source_end, last.source_end);
      if (position.source_end < position.source_begin) position.source_begin = 0;
      position.special = first.special && last.special;
    } else if (first.word >= 0 && !first.special) {
      const std::string_view text = trimmed(source_text(axis, group.begin, group.end));
      if (!text.empty()) position.text = to_one_line(text);
    }
    grouped.positions.push_back(std::move(position));
  }
  return grouped;
}

std::string plain_label(const Axis& axis, int64_t index) {
  const Position& position = axis.positions[static_cast<size_t>(index)];
  if (position.special) return position.text;
  return std::string(without_marks(position.text));
}

std::vector<std::string> label_numbers(const Axis& axis) {
  std::map<std::string, int64_t> seen;
  std::vector<std::string> numbers;
  for (int64_t i = 0; i < std::ssize(axis.positions); ++i) {
    const int64_t number = ++seen[plain_label(axis, i)];
    numbers.push_back(number > 1 ? fmt::format("{}{}", kNumberMark, number) : "");
  }
  return numbers;
}

std::vector<std::string> numbered_labels(const Axis& axis) {
  std::vector<std::string> labels = label_numbers(axis);
  for (int64_t i = 0; i < std::ssize(axis.positions); ++i) {
    std::string& label = labels[static_cast<size_t>(i)];
    label = plain_label(axis, i) + label;
  }
  return labels;
}

FoundToken token_named(const Axis& axis, std::string_view token, Field field) {
  if (token.size() > 1 && token.starts_with('#') && parse_number<int64_t>(token.substr(1))) {
    return {position_named(axis, token, token.substr(1), field), ""};
  }
  const std::vector<int64_t> found = find_positions(axis, token);
  if (found.size() == 1) return {found.front(), ""};
  if (found.size() > 1) fail_several(token, found, field);

  if (const auto numbered = numbered_position(axis, token)) return {*numbered, ""};

  // Compare with the text's own spelling: a tokenizer may have made "The" into "the".
  std::vector<int64_t> written;
  for (int64_t i = 0; i < static_cast<int64_t>(axis.positions.size()); ++i) {
    if (trimmed(source_text(axis, i, i + 1)) == token) written.push_back(i);
  }
  if (written.size() == 1) return {written.front(), ""};
  if (written.size() > 1) fail_several(token, written, field);

  std::vector<PositionGroup> words;
  for (const PositionGroup& group : word_groups(axis)) {
    if (group.size() > 1 && trimmed(source_text(axis, group.begin, group.end)) == token) {
      words.push_back(group);
    }
  }
  if (words.size() == 1) {
    const int64_t last = words.front().end - 1;
    return {last, fmt::format("the last of {} pieces of \"{}\"", words.front().size(), token)};
  }
  if (words.size() > 1) {
    std::vector<int64_t> places;
    for (const PositionGroup& word : words) places.push_back(word.end - 1);
    fail_several(token, places, field);
  }
  return {position_named(axis, token, token, field), ""};
}

FoundToken word_named(const Axis& axis, const std::vector<PositionGroup>& groups,
                      std::string_view token, Field field) {
  const Axis words = grouped_axis(axis, groups);
  if (find_positions(words, token).empty()) {
    const std::vector<int64_t> pieces = find_positions(axis, token);
    std::vector<int64_t> places;
    for (int64_t g = 0; g < static_cast<int64_t>(groups.size()); ++g) {
      const PositionGroup& group = groups[static_cast<size_t>(g)];
      const bool holds = std::ranges::any_of(
          pieces, [&](int64_t piece) { return piece >= group.begin && piece < group.end; });
      if (holds) places.push_back(g);
    }
    if (places.size() > 1) fail_several(token, places, field);
    if (places.size() == 1) {
      const auto index = static_cast<size_t>(places.front());
      return {places.front(), fmt::format("the word \"{}\", of which \"{}\" is a piece",
                                          words.positions[index].text, token)};
    }
  }
  return token_named(words, token, field);
}

}  // namespace fovea
