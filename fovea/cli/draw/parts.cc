#include "fovea/cli/draw/parts.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/utf8.h"
#include "fovea/cli/draw/cells.h"
#include "fovea/cli/draw/text.h"
#include "fovea/figure/color_axis.h"
#include "fovea/figure/picture_tone.h"

namespace fovea {
namespace {

constexpr int kPartsGap = 1;
constexpr int kWidestPart = 18;
constexpr Rgb kOwnPart{255, 255, 255};

class PartsPainter {
 public:
  PartsPainter(const ImageFigure& figure, const Terminal& terminal, const ColorMap& colors)
      : figure_(figure),
        terminal_(terminal),
        colors_(colors),
        bar_colors_(colors_over_ground(colors, figure.scale.is_signed())),
        ground_(faint_ground(figure.picture)),
        cells_(terminal, bar_colors_, figure.scale) {
    const auto across = static_cast<int>(figure.panels_across);
    columns_ = std::clamp((terminal.width + kPartsGap) / across - kPartsGap, 4, kWidestPart);
    const double shape =
        static_cast<double>(figure.picture.height) / static_cast<double>(figure.picture.width);
    lines_ = std::max(static_cast<int>(std::lround(columns_ * shape / 2)), 1);
  }

  std::string draw() const {
    const auto across = static_cast<size_t>(figure_.panels_across);
    std::string text;
    for (size_t first = 0; first < figure_.panels.size(); first += across) {
      const size_t end = std::min(first + across, figure_.panels.size());
      for (int y = 0; y < lines_; ++y) {
        for (size_t p = first; p < end; ++p) {
          text += line(figure_.panels[p], y);
          if (p + 1 < end) text += repeated(" ", kPartsGap);
        }
        text += "\n";
      }
      text += "\n";
    }
    return text + cells_.legend(false);
  }

 private:
  std::string line(const ImagePanel& panel, int y) const {
    std::string text;
    for (int x = 0; x < columns_; ++x) {
      if (terminal_.has_color()) {
        text += terminal_.painted(color(panel, x, 2 * y), color(panel, x, 2 * y + 1), "▀");
      } else {
        text +=
            is_own_middle(panel, x, y)
                ? "+"
                : cells_.block(
                      static_cast<float>((value(panel, x, 2 * y) + value(panel, x, 2 * y + 1)) / 2),
                      1);
      }
    }
    return text;
  }

  // The middle of the panel's own part, where a frame would be as large as the part.
  bool is_own_middle(const ImagePanel& panel, int x, int y) const {
    if (!panel.part) return false;
    const double across = (panel.part->left + panel.part->right) / 2;
    const double down = (panel.part->top + panel.part->bottom) / 2;
    return x == static_cast<int>(across * columns_) && y == static_cast<int>(down * lines_);
  }

  // The mean of the cells under half line y: what a small picture shows of many.
  double value(const ImagePanel& panel, int x, int y) const {
    const auto grid = panel.weights.matrix<float>();
    const auto range = [](int place, int count, int64_t cells) {
      const int64_t begin = place * cells / count;
      return std::pair(begin, std::max<int64_t>(begin + 1, (place + 1) * cells / count));
    };
    const auto [top, bottom] = range(y, 2 * lines_, grid.rows);
    const auto [left, right] = range(x, columns_, grid.cols);
    double sum = 0, count = 0;
    for (int64_t r = top; r < bottom; ++r) {
      for (int64_t c = left; c < right; ++c) {
        if (std::isnan(grid(r, c))) continue;
        sum += double{grid(r, c)};
        ++count;
      }
    }
    return count > 0 ? sum / count : std::nan("");
  }

  Rgb color(const ImagePanel& panel, int x, int y) const {
    if (is_own_middle(panel, x, y / 2) && (y & 1) == own_half(panel)) return kOwnPart;
    const Rgb ground = ground_.at((2 * x + 1) * ground_.width / (2 * columns_),
                                  (2 * y + 1) * ground_.height / (4 * lines_));
    const double shown = value(panel, x, y);
    if (std::isnan(shown)) return ground;
    const double place = std::clamp(place_on(figure_.scale, shown), 0.0, 1.0);
    const Tint tint = tint_of(colors_, place, figure_.scale.is_signed());
    return mix(ground, tint.color, tint.cover);
  }

  int own_half(const ImagePanel& panel) const {
    return static_cast<int>((panel.part->top + panel.part->bottom) / 2 * 2 * lines_) & 1;
  }

  const ImageFigure& figure_;
  const Terminal& terminal_;
  const ColorMap& colors_;
  ColorMap bar_colors_;
  Picture ground_;
  CellPainter cells_;
  int columns_ = 4, lines_ = 1;
};

}  // namespace

std::string draw_parts(const ImageFigure& figure, const Terminal& terminal,
                       const ColorMap& colors) {
  return without_trailing_spaces(title_lines(figure.text, terminal) +
                                 PartsPainter(figure, terminal, colors).draw() +
                                 caption_lines(figure.text, terminal));
}

}  // namespace fovea
