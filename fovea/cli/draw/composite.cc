// Patches in the colours of their owners: two in each character; as numbers where there are no
// colours.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/base/utf8.h"
#include "fovea/cli/draw/draw.h"
#include "fovea/cli/draw/text.h"
#include "fovea/figure/checks.h"
#include "fovea/figure/picture_tone.h"

namespace fovea {
namespace {

constexpr double kOwnerTint = 0.7;

struct CompositePainter {
  const CompositeFigure& figure;
  const Terminal& terminal;
  Picture ground;
  int64_t columns;
  int64_t lines;

  float owner(int64_t x, int64_t half_line) const {
    const auto owners = figure.owners.matrix<float>();
    return owners(std::min(half_line * owners.rows / (2 * lines), owners.rows - 1),
                  std::min(x * owners.cols / columns, owners.cols - 1));
  }
  Rgb color(int64_t x, int64_t half_line) const {
    const Rgb below = ground.at((2 * x + 1) * ground.width / (2 * columns),
                                (2 * half_line + 1) * ground.height / (4 * lines));
    const float own = owner(x, half_line);
    return std::isnan(own) ? below
                           : mix(below, object_color(static_cast<int64_t>(own)), kOwnerTint);
  }
  // The last digit of the owner, a dot where there is none.
  std::string letter(int64_t x, int64_t line) const {
    const float own = owner(x, 2 * line);
    return std::isnan(own) ? "·" : std::to_string(static_cast<int64_t>(own) % 10);
  }
  std::string draw() const {
    std::string text;
    for (int64_t line = 0; line < lines; ++line) {
      for (int64_t x = 0; x < columns; ++x) {
        text += terminal.has_color()
                    ? terminal.painted(color(x, 2 * line), color(x, 2 * line + 1), "▀")
                    : letter(x, line);
      }
      text += "\n";
    }
    return text;
  }
};

// "█ head 3 18 %", as many in a line as fit.
std::string composite_legend(const CompositeFigure& figure, const Terminal& terminal) {
  std::string text;
  int column = 0;
  for (size_t i = 0; i < figure.names.size(); ++i) {
    const std::string words = fmt::format("{} {}", figure.names[i].name, figure.names[i].detail);
    const int width = display_width(words) + (terminal.has_color() ? 2 : 0);
    if (column > 0 && column + 3 + width > terminal.width) {
      text += "\n";
      column = 0;
    }
    if (column > 0) text += "   ";
    if (terminal.has_color()) {
      text += terminal.ink(object_color(static_cast<int64_t>(i)), "█") + " ";
    }
    text += words;
    column += width + 3;
  }
  return text + "\n";
}

}  // namespace

std::string draw(const CompositeFigure& figure, const Terminal& terminal, const ColorMap&) {
  check_composite(figure);
  const int64_t columns = std::clamp<int64_t>(terminal.width - 2, 8, 56);
  const double shape =
      static_cast<double>(figure.picture.height) / static_cast<double>(figure.picture.width);
  const int64_t lines =
      std::clamp<int64_t>(std::llround(static_cast<double>(columns) * shape / 2), 1, 48);
  return title_lines(figure.text, terminal) +
         CompositePainter{figure, terminal, dark_ground(figure.picture), columns, lines}.draw() +
         "\n" + composite_legend(figure, terminal) + "\n" + caption_lines(figure.text, terminal);
}

}  // namespace fovea
