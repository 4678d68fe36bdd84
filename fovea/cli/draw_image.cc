// Pictures in the terminal: two pixels in each character, the weights laid over them.
#include <algorithm>
#include <cmath>
#include <limits>

#include "fovea/base/utf8.h"
#include "fovea/cli/draw.h"
#include "fovea/cli/draw_cells.h"
#include "fovea/cli/draw_text.h"
#include "fovea/cli/table.h"
#include "fovea/render/picture_tone.h"

namespace fovea {
namespace {

constexpr int kGap = 2;

class ImagePainter {
 public:
  ImagePainter(const ImageFigure& figure, const Terminal& terminal, const ColorMap& colors)
      : figure_(figure),
        terminal_(terminal),
        colors_(colors),
        cells_(terminal, colors, figure.scale) {
    for (const ImagePanel& panel : figure.panels) masked_ |= has_forbidden(panel.weights);
    const auto panels = static_cast<int>(figure.panels.size()) + (terminal.has_color() ? 1 : 0);
    const int across = std::min(panels, terminal.width >= 76 ? 4 : 2);
    columns_ = std::clamp((terminal.width + kGap) / across - kGap, 8, panels <= 2 ? 56 : 36);
    const double shape =
        static_cast<double>(figure.picture.height) / static_cast<double>(figure.picture.width);
    lines_ = std::clamp(static_cast<int>(std::lround(columns_ * shape / 2)), 1, 48);
  }

  std::string draw() const {
    std::vector<TextBlock> blocks;
    if (terminal_.has_color()) blocks.push_back(block("picture", nullptr));
    for (const ImagePanel& panel : figure_.panels) blocks.push_back(block(panel.title, &panel));
    const size_t across =
        static_cast<size_t>(std::max(1, (terminal_.width + kGap) / (columns_ + kGap)));
    std::string text;
    for (size_t first = 0; first < blocks.size(); first += across) {
      const size_t end = std::min(first + across, blocks.size());
      for (size_t line = 0; line < blocks[first].size(); ++line) {
        for (size_t b = first; b < end; ++b) {
          const TextLine& part = blocks[b][line];
          text += part.text;
          if (b + 1 < end) text += repeated(" ", columns_ - part.width + kGap);
        }
        text += "\n";
      }
      text += "\n";
    }
    return text + cells_.legend(false);
  }

 private:
  TextBlock block(const std::string& title, const ImagePanel* panel) const {
    const std::string name = shorten(printable(title), columns_);
    TextBlock result{{terminal_.dim(name), display_width(name)}};
    for (int y = 0; y < lines_; ++y) {
      std::string line;
      for (int x = 0; x < columns_; ++x) {
        if (terminal_.has_color()) {
          line += terminal_.painted(color(panel, x, 2 * y), color(panel, x, 2 * y + 1), "▀");
        } else {
          line += cells_.block(weight(*panel, x, 2 * y, 2), 1);
        }
      }
      result.push_back({line, columns_});
    }
    return result;
  }

  // Of the patch under half line y, or the largest of `count` of them.
  float weight(const ImagePanel& panel, int x, int y, int count = 1) const {
    const auto grid = panel.weights.matrix<float>();
    const int64_t col = std::min<int64_t>(x * grid.cols / columns_, grid.cols - 1);
    float largest = std::numeric_limits<float>::quiet_NaN();
    for (int i = 0; i < count; ++i) {
      const int64_t row = std::min<int64_t>((y + i) * grid.rows / (2 * lines_), grid.rows - 1);
      const float value = grid(row, col);
      if (std::isnan(largest) || value > largest) largest = value;
    }
    return largest;
  }

  Rgb color(const ImagePanel* panel, int x, int y) const {
    const Picture& picture = figure_.picture;
    const Rgb below = picture.at((2 * x + 1) * picture.width / (2 * columns_),
                                 (2 * y + 1) * picture.height / (4 * lines_));
    if (panel == nullptr) return below;
    const float value = weight(*panel, x, y);
    if (std::isnan(value)) return mix(below, {0, 0, 0}, kHiddenCover);
    const double share =
        figure_.scale.high > 0 ? std::clamp(double{value} / figure_.scale.high, 0.0, 1.0) : 0;
    const Tint tint = tint_of(colors_, share, figure_.opacity);
    return mix(masked_ ? below : quiet(below), tint.color, tint.cover);
  }

  const ImageFigure& figure_;
  const Terminal& terminal_;
  const ColorMap& colors_;
  CellPainter cells_;
  bool masked_ = false;
  int columns_ = 8;
  int lines_ = 4;
};

}  // namespace

std::string draw(const ImageFigure& figure, const Terminal& terminal, const ColorMap& colors) {
  return without_trailing_spaces(title_lines(figure.text, terminal) +
                                 ImagePainter(figure, terminal, colors).draw() +
                                 caption_lines(figure.text, terminal));
}

}  // namespace fovea
