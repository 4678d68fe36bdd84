// Words about one token's steps, above its numbers.
#include <fmt/ranges.h>

#include <algorithm>

#include "fovea/base/utf8.h"
#include "fovea/capture/words.h"
#include "fovea/figure/model_steps_view.h"

namespace fovea {
namespace {

// The words around a position with it in brackets, as much as fits into one line. Empty if it
// stands for no text.
std::string marked_text(const Axis& axis, int64_t index) {
  constexpr int kColumns = 76;
  const Position& position = axis.positions[static_cast<size_t>(index)];
  const std::string_view source = axis.source;
  auto begin = static_cast<size_t>(position.source_begin);
  const auto end = static_cast<size_t>(position.source_end);
  if (end <= begin || end > source.size()) return "";
  while (begin + 1 < end && source[begin] == ' ') ++begin;
  const std::string word =
      "[" + shorten(printable(source.substr(begin, end - begin)), kColumns / 2) + "]";
  const int room = kColumns - display_width(word);
  const std::string after = printable(source.substr(end));
  const std::string before = printable(source.substr(0, begin));
  const int room_before = std::max(room - display_width(after), room / 2);
  std::string head = before;
  if (display_width(before) > room_before) {
    head.clear();
    const auto letters = graphemes(before);
    for (auto letter = letters.rbegin(); letter != letters.rend(); ++letter) {
      if (display_width(head) + display_width(*letter) + 1 > room_before) break;
      head.insert(0, *letter);
    }
    head.insert(0, "…");
  }
  return head + word + shorten(after, room - display_width(head));
}

std::string token_fact(const ModelStepsView& view) {
  const ModelSteps& steps = view.steps;
  std::string fact = fmt::format("token {} of 0 to {}, {} · {} head{} of {} numbers", steps.row,
                                 steps.shape.rows - 1, view.token_name(), steps.shape.heads,
                                 steps.shape.heads == 1 ? "" : "s", steps.shape.head_dim);
  if (steps.similarity) {
    fact += fmt::format(" · {} similarity: {}", view.similarity_name(), kNotTheModel);
  }
  return fact;
}

std::string pair_fact(const ModelStepsView& view) {
  const ModelSteps& steps = view.steps;
  const int64_t column = *view.to;
  const std::string names =
      fmt::format("{} → {} (token {})", view.token_name(), view.column_name(column), column);
  const std::optional<int64_t> rank = steps.rank_of(column);
  if (!rank) return names + " · hidden from it";
  return names + fmt::format(" · weight {:.3f}, rank {} of {}",
                             steps.weights[static_cast<size_t>(column)], *rank, steps.shape.cols);
}

}  // namespace

std::vector<std::string> model_steps_facts(const ModelStepsView& view) {
  std::vector<std::string> facts{token_fact(view)};
  if (!view.note.empty()) facts.push_back(printable(view.note));
  if (view.to) facts.push_back(pair_fact(view));
  if (!view.defaults.empty()) {
    facts.push_back(fmt::format("By default {}", fmt::join(view.defaults, ", ")));
  }
  if (view.is_cross() && view.steps.block) {
    facts.emplace_back("x is the decoder's state, s the encoder's states of the source");
  } else if (view.is_pool() && view.steps.block) {
    facts.emplace_back("p is a learned query, the same for every picture");
  }
  const std::string text = marked_text(view.rows, view.steps.row);
  if (!text.empty()) facts.push_back(text);
  return facts;
}

}  // namespace fovea
