#include "fovea/engine/text_axis.h"

#include <fmt/format.h>

#include "fovea/text/word_boundaries.h"

namespace fovea {
namespace {

std::string label(const Tokenizer* tokenizer, int64_t id) {
  return tokenizer == nullptr ? fmt::format("#{}", id)
                              : tokenizer->info(static_cast<int32_t>(id)).display;
}

bool is_space(char byte) {
  return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r' || byte == '\v' ||
         byte == '\f';
}

}  // namespace

Axis text_axis(const Tokenizer& tokenizer, const Encoding& encoding, std::string_view text,
               std::string_view pair) {
  Axis axis{.name = "tokens", .source = std::string(text)};
  if (!pair.empty()) axis.source += fmt::format("\n{}", pair);
  const int64_t pair_begin = static_cast<int64_t>(text.size()) + 1;
  int64_t words_of_text = 0;
  for (const ShownToken& token : tokenizer.show(encoding)) {
    const bool second = token.sequence == 1;
    const int64_t offset = second ? pair_begin : 0;
    Position position{.text = token.info.display,
                      .source_begin = offset + static_cast<int64_t>(token.span.begin),
                      .source_end = offset + static_cast<int64_t>(token.span.end),
                      .special = token.sequence < 0};
    if (position.special) position.source_begin = position.source_end = 0;
    if (token.word >= 0) {
      position.word = token.word + (second ? words_of_text : 0);
      if (!second) words_of_text = std::max<int64_t>(words_of_text, token.word + 1);
    }
    axis.positions.push_back(std::move(position));
  }
  return axis;
}

Axis ids_axis(const Tokenizer* tokenizer, std::span<const int64_t> ids) {
  Axis axis{.name = "tokens"};
  for (const int64_t id : ids) {
    axis.positions.push_back(
        {.text = label(tokenizer, id),
         .special = tokenizer != nullptr && tokenizer->is_special(static_cast<int32_t>(id))});
  }
  return axis;
}

Axis written_axis(const Tokenizer& tokenizer, std::span<const int64_t> ids) {
  Axis axis = ids_axis(&tokenizer, ids);
  const std::vector<int32_t> narrow(ids.begin(), ids.end());
  axis.source = tokenizer.decode(narrow);
  // A token's part is what the text gains by it; the pieces of one character share its bytes.
  size_t end = 0;
  for (size_t i = 0; i < narrow.size(); ++i) {
    Position& position = axis.positions[i];
    const std::string so_far = tokenizer.decode(std::span(narrow).first(i + 1));
    const size_t begin = end;
    if (axis.source.starts_with(so_far)) end = std::max(end, so_far.size());
    if (position.special) continue;
    position.source_begin = static_cast<int64_t>(begin);
    position.source_end = static_cast<int64_t>(end);
  }
  return axis;
}

void divide_into_words(Axis& axis) {
  const std::string& text = axis.source;
  int64_t word = -1;
  bool opened = false;  // by a token of white space alone, which belongs to the word after it
  for (Position& position : axis.positions) {
    position.word = -1;
    if (position.special) continue;
    const auto first = static_cast<size_t>(position.source_begin);
    const auto end = static_cast<size_t>(position.source_end);
    size_t begin = first;
    while (begin < end && is_space(text[begin])) ++begin;
    const bool is_blank = begin >= end && (first < end || end == 0);
    const bool continues =
        opened || (begin > 0 && !is_blank && (begin >= end || !begins_word(text, begin)));
    if (word < 0 || !continues) ++word;
    position.word = word;
    opened = is_blank;
  }
}

void divide_at_spaces(Axis& axis) {
  const std::string& text = axis.source;
  // For each byte: the word that it is in, or, for a space, the word that follows.
  std::vector<int64_t> words(text.size() + 1);
  for (size_t i = 0; i < text.size(); ++i) {
    const bool ends_word = !is_space(text[i]) && (i + 1 == text.size() || is_space(text[i + 1]));
    words[i + 1] = words[i] + (ends_word ? 1 : 0);
  }
  const int64_t count = words.back();
  for (Position& position : axis.positions) {
    position.word = -1;
    if (position.special || count == 0) continue;
    const auto begin = std::min(static_cast<size_t>(position.source_begin), text.size());
    position.word = std::min(words[begin], count - 1);
  }
}

Axis steps_axis(const Axis& columns, const Tokenizer* tokenizer, std::span<const int64_t> ids,
                int64_t prompt, std::span<const double> probabilities) {
  Axis axis = columns;
  axis.name = "steps";
  for (size_t i = static_cast<size_t>(prompt) - 1; i < axis.positions.size(); ++i) {
    std::string& text = axis.positions[i].text;
    text = fmt::format("after {}", columns.positions[i].text);
    if (i + 1 < ids.size()) text += fmt::format(" → predicts {}", label(tokenizer, ids[i + 1]));
    const size_t written = i + 1 - static_cast<size_t>(prompt);
    if (written >= probabilities.size()) continue;
    const double probability = probabilities[written];
    text += probability < 0.01 ? fmt::format(" {:.1g}", probability)
                               : fmt::format(" {:.2f}", probability);
  }
  return axis;
}

Axis sound_axis(int64_t positions, double seconds_each) {
  Axis axis{.name = "source"};
  for (int64_t i = 0; i < positions; ++i) {
    axis.positions.push_back(
        {.text = fmt::format("{:.2f} s", static_cast<double>(i) * seconds_each)});
  }
  return axis;
}

}  // namespace fovea
