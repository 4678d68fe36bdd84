#include "fovea/cli/steps/cells.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "fovea/base/utf8.h"
#include "fovea/cli/draw/text.h"

namespace fovea {
namespace {

// Seen on black and on white ground.
constexpr Rgb kAbove{205, 75, 60};
constexpr Rgb kBelow{65, 130, 200};

// The one farthest from 0 of each `per_cell` neighbours.
std::vector<double> pooled(std::span<const double> values, int64_t per_cell) {
  std::vector<double> cells;
  const auto step = static_cast<size_t>(per_cell);
  for (size_t begin = 0; begin < values.size(); begin += step) {
    const auto part = values.subspan(begin, std::min(step, values.size() - begin));
    cells.push_back(*std::ranges::max_element(
        part, [](double a, double b) { return std::abs(a) < std::abs(b); }));
  }
  return cells;
}

}  // namespace

int64_t numbers_per_cell(size_t count, int columns) {
  const auto places = static_cast<int64_t>(std::max(columns, 1));
  return std::max<int64_t>((static_cast<int64_t>(count) + places - 1) / places, 1);
}

TextLine strip(std::span<const double> values, double largest, int64_t per_cell,
               const Terminal& terminal) {
  static constexpr std::array<std::string_view, 7> kHeights{"▁", "▂", "▃", "▄", "▅", "▆", "▇"};
  TextLine line;
  for (const double value : pooled(values, per_cell)) {
    const double place = largest > 0 ? 0.5 + 0.5 * value / largest : 0.5;
    if (terminal.has_color()) {
      line.text += terminal.on(color_map("RdBu").at(place), " ");
    } else {
      const auto height = std::clamp<long>(std::lround(place * 6), 0, 6);
      line.text += kHeights[static_cast<size_t>(height)];
    }
    ++line.width;
  }
  return line;
}

std::string strip_legend(const Terminal& terminal) {
  return terminal.has_color() ? "Cells: blue is below 0, red above, up to the number after ±."
                              : "Cells: ▁ is minus the number after ±, ▄ is 0, ▇ is plus it.";
}

TextLine share_bar(double share, int columns, const Terminal& terminal) {
  const std::string text = bar(share, columns);
  return {terminal.ink(inferno().at(0.45 + 0.3 * share), text), display_width(text)};
}

TextLine signed_bar(double share, int left, int right, const Terminal& terminal) {
  if (share >= 0) {
    const std::string text = bar(share, right);
    return {repeated(" ", left) + terminal.dim("│") + terminal.ink(kAbove, text),
            left + 1 + display_width(text)};
  }
  // To the left there are only whole and half blocks.
  const auto halves = static_cast<int>(std::lround(std::min(-share, 1.0) * left * 2));
  const std::string text = std::string(halves % 2 == 1 ? "▐" : "") + repeated("█", halves / 2);
  return {
      repeated(" ", left - display_width(text)) + terminal.ink(kBelow, text) + terminal.dim("│"),
      left + 1};
}

std::string marked_text(const Axis& axis, int64_t index, const Terminal& terminal) {
  const Position& position = axis.positions[static_cast<size_t>(index)];
  const std::string_view source = axis.source;
  auto begin = static_cast<size_t>(position.source_begin);
  const auto end = static_cast<size_t>(position.source_end);
  if (end <= begin || end > source.size()) return "";
  while (begin + 1 < end && source[begin] == ' ') ++begin;
  const std::string word =
      shorten(printable(source.substr(begin, end - begin)), terminal.width / 2);
  const std::string chosen = terminal.has_color() ? terminal.marked(word) : "[" + word + "]";
  const int room = terminal.width - display_width(word) - 2;
  const std::string after = printable(source.substr(end));
  const std::string before = printable(source.substr(0, begin));
  int room_before = std::max(room - display_width(after), room / 2);
  std::string head;
  if (display_width(before) <= room_before) {
    head = before;
  } else {
    const auto letters = graphemes(before);
    for (auto letter = letters.rbegin(); letter != letters.rend(); ++letter) {
      if (display_width(head) + display_width(*letter) + 1 > room_before) break;
      head.insert(0, *letter);
    }
    head.insert(0, "…");
  }
  return terminal.dim(head) + chosen + terminal.dim(shorten(after, room - display_width(head)));
}

}  // namespace fovea
