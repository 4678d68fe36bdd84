#include "fovea/engine/text_axis.h"

#include <fmt/format.h>

namespace fovea {
namespace {

std::string label(const Tokenizer* tokenizer, int64_t id) {
  return tokenizer == nullptr ? fmt::format("#{}", id)
                              : tokenizer->info(static_cast<int32_t>(id)).display;
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

Axis steps_axis(const Axis& columns, const Tokenizer* tokenizer, std::span<const int64_t> ids,
                int64_t prompt) {
  Axis axis = columns;
  axis.name = "steps";
  for (size_t i = static_cast<size_t>(prompt) - 1; i < axis.positions.size(); ++i) {
    std::string& text = axis.positions[i].text;
    text = fmt::format("after {}", columns.positions[i].text);
    if (i + 1 < ids.size()) text += fmt::format(" → predicts {}", label(tokenizer, ids[i + 1]));
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
