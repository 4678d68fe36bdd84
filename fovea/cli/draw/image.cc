// Pictures in the terminal: two pixels in each character, weights, areas and boxes laid over them.
#include <algorithm>
#include <cmath>
#include <limits>

#include "fovea/base/utf8.h"
#include "fovea/cli/draw/cells.h"
#include "fovea/cli/draw/draw.h"
#include "fovea/cli/draw/parts.h"
#include "fovea/cli/draw/text.h"
#include "fovea/cli/table.h"
#include "fovea/figure/box_labels.h"
#include "fovea/figure/color_axis.h"
#include "fovea/figure/picture_tone.h"
#include "fovea/figure/smooth_places.h"

namespace fovea {
namespace {

constexpr int kPictureGap = 2;
constexpr int kWidestInSheet = 18;
constexpr size_t kMostTitle = 2;  // lines
constexpr double kMapTint = 0.5;  // of an area
constexpr Rgb kMark{208, 28, 46};

// Cells of a box, first and last with it.
struct CellBox {
  int left = 0;
  int top = 0;
  int right = 0;
  int bottom = 0;

  bool has_edge(int x, int y) const {
    return x >= left && x <= right && y >= top && y <= bottom &&
           (x == left || x == right || y == top || y == bottom);
  }
};

CellBox cell_box(const ImageBox& box, int columns, int lines) {
  const auto at = [](double part, int count) {
    return std::clamp(static_cast<int>(std::floor(part * count)), 0, count - 1);
  };
  const auto before = [](double part, int count) {
    return std::clamp(static_cast<int>(std::ceil(part * count)) - 1, 0, count - 1);
  };
  CellBox cells{at(box.left, columns), at(box.top, lines), before(box.right, columns),
                before(box.bottom, lines)};
  cells.right = std::max(cells.left, cells.right);
  cells.bottom = std::max(cells.top, cells.bottom);
  return cells;
}

// The line character of a box's edge.
std::string_view edge_sign(const CellBox& box, int x, int y) {
  if (box.left == box.right || box.top == box.bottom) return "+";
  if (y == box.top) return x == box.left ? "┌" : x == box.right ? "┐" : "─";
  if (y == box.bottom) return x == box.left ? "└" : x == box.right ? "┘" : "─";
  return "│";
}

class ImagePainter {
 public:
  ImagePainter(const ImageFigure& figure, const Terminal& terminal, const ColorMap& colors)
      : figure_(figure),
        terminal_(terminal),
        colors_(colors),
        bar_colors_(colors_over_ground(colors, figure.scale.is_signed())),
        ground_(dark_ground(figure.picture)),
        cells_(terminal, bar_colors_, figure.scale) {
    const auto panels = static_cast<int>(figure.panels.size()) + (picture_alone() ? 1 : 0);
    int across = std::min(panels, terminal.width >= 76 ? 4 : 2);
    int widest = panels == 1 ? 76 : panels == 2 ? 56 : 36;
    if (is_sheet()) {
      across = static_cast<int>(figure.col_names.size());
      widest = kWidestInSheet;
    }
    columns_ = std::clamp((terminal.width + kPictureGap) / across - kPictureGap, 8, widest);
    const double shape =
        static_cast<double>(figure.picture.height) / static_cast<double>(figure.picture.width);
    lines_ = std::clamp(static_cast<int>(std::lround(columns_ * shape / 2)), 1, 48);
    for (const ImagePanel& panel : figure.panels) {
      title_lines_ = std::max(title_lines_, title_of(panel).size());
      if (!figure.smooth || panel.weights.empty()) continue;
      smooth_.emplace_back(panel.weights.matrix<float>(), figure.scale);
    }
  }

  std::string draw() const {
    std::vector<TextBlock> blocks;
    if (picture_alone()) blocks.push_back(block(nullptr));
    for (const ImagePanel& panel : figure_.panels) blocks.push_back(block(&panel));
    size_t across = static_cast<size_t>(
        std::max(1, (terminal_.width + kPictureGap) / (columns_ + kPictureGap)));
    if (is_sheet()) across = std::min(across, figure_.col_names.size());
    std::string text;
    for (size_t first = 0; first < blocks.size(); first += across) {
      const size_t end = std::min(first + across, blocks.size());
      for (size_t line = 0; line < blocks[first].size(); ++line) {
        for (size_t b = first; b < end; ++b) {
          const TextLine& part = blocks[b][line];
          text += part.text;
          if (b + 1 < end) text += repeated(" ", columns_ - part.width + kPictureGap);
        }
        text += "\n";
      }
      text += "\n";
    }
    return figure_.has_weights() ? text + cells_.legend(false) : text;
  }

 private:
  bool is_sheet() const { return figure_.layout == ImageLayout::kSheet; }
  bool picture_alone() const {
    return terminal_.has_color() && figure_.layout != ImageLayout::kPanels && !is_sheet();
  }

  // In lines as wide as a panel, with how many patches hold most of the weight where there is room.
  std::vector<std::string> title_of(const ImagePanel& panel) const {
    std::vector<std::string> lines;
    for (const std::string& line : lines_of(wrapped(printable(panel.title), columns_))) {
      lines.push_back(shorten(line, columns_));
    }
    if (lines.size() > kMostTitle) {
      lines.resize(kMostTitle + 1);
      lines[kMostTitle - 1] = shorten(lines[kMostTitle - 1] + " " + lines.back(), columns_);
      lines.pop_back();
    }
    if (panel.note.empty() || is_sheet()) return lines;
    for (const std::string& line : lines_of(wrapped(panel.note, columns_))) lines.push_back(line);
    return lines;
  }

  TextBlock block(const ImagePanel* panel) const {
    std::vector<std::string> names =
        panel == nullptr ? std::vector<std::string>{"picture"} : title_of(*panel);
    names.resize(title_lines_);
    TextBlock result;
    for (const std::string& name : names) {
      result.push_back({terminal_.dim(name), display_width(name)});
    }
    for (int y = 0; y < lines_; ++y) {
      std::vector<std::string> cells;
      for (int x = 0; x < columns_; ++x) {
        cells.push_back(terminal_.has_color() ? terminal_.painted(color(panel, x, 2 * y),
                                                                  color(panel, x, 2 * y + 1), "▀")
                                              : shade(*panel, x, y));
      }
      if (panel != nullptr) write_signs(*panel, y, cells);
      std::string line;
      for (const std::string& cell : cells) line += cell;
      result.push_back({line, columns_});
    }
    return result;
  }

  // Without colours: an edge, an area, or the weight.
  std::string shade(const ImagePanel& panel, int x, int y) const {
    for (const ImageBox& each : panel.boxes) {
      const CellBox box = cell_box(each, columns_, lines_);
      if (box.has_edge(x, y)) return std::string(edge_sign(box, x, y));
    }
    if (!panel.weights.empty()) return cells_.block(weight(panel, x, 2 * y, 2), 1);
    const bool in_area = std::ranges::any_of(panel.masks, [&](const ImageMask& mask) {
      return holds(mask, x, 2 * y) || holds(mask, x, 2 * y + 1);
    });
    return in_area ? "▒" : " ";
  }

  // The names of boxes and the sign of the chosen patch, over what is drawn.
  void write_signs(const ImagePanel& panel, int line, std::vector<std::string>& cells) const {
    if (panel.chosen) {
      const int x =
          static_cast<int>((2 * panel.chosen->col + 1) * columns_ / (2 * panel.weights.size(1)));
      const int y =
          static_cast<int>((2 * panel.chosen->row + 1) * lines_ / (2 * panel.weights.size(0)));
      if (y == line) cells[static_cast<size_t>(x)] = terminal_.on(kMark, "+");
    }
    std::vector<BoxLabel> labels;
    std::vector<std::string> names;
    for (const ImageBox& each : panel.boxes) {
      const CellBox box = cell_box(each, columns_, lines_);
      names.push_back(shorten(printable(each.label), columns_));
      labels.push_back({{double(box.left), double(box.top), double(box.right - box.left + 1),
                         double(box.bottom - box.top + 1)},
                        double(display_width(names.back())),
                        1});
    }
    const std::vector<Rect> places = place_labels(labels, {0, 0, double(columns_), double(lines_)});
    for (size_t i = 0; i < names.size(); ++i) {
      if (names[i].empty() || std::lround(places[i].y) != line) continue;
      const auto first = static_cast<size_t>(std::lround(places[i].x));
      for (size_t x = 0; x < static_cast<size_t>(display_width(names[i])); ++x) {
        cells[first + x].clear();
      }
      cells[first] = terminal_.on(object_color(panel.boxes[i].color), names[i]);
    }
  }

  bool holds(const ImageMask& mask, int x, int half_line) const {
    const int64_t row = (2 * half_line + 1) * mask.rows / (4 * lines_);
    const int64_t col = (2 * x + 1) * mask.cols / (2 * columns_);
    return mask.cells[static_cast<size_t>(row * mask.cols + col)] != 0;
  }

  // The weight of the patch under half line y, or the largest of `count` such patches.
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
    if (panel->weights.empty()) return layered(*panel, x, y, below);
    return layered(*panel, x, y,
                   ground_.at((2 * x + 1) * picture.width / (2 * columns_),
                              (2 * y + 1) * picture.height / (4 * lines_)));
  }

  // Of a panel with weights the place of the colour under half line y.
  double place(const ImagePanel& panel, int x, int y) const {
    if (!smooth_.empty()) {
      // Only panels with weights have one.
      size_t index = 0;
      for (const ImagePanel* each = figure_.panels.data(); each != &panel; ++each) {
        index += each->weights.empty() ? 0 : 1;
      }
      const auto grid = panel.weights.matrix<float>();
      return smooth_[index].at((y + 0.5) / (2 * lines_) * static_cast<double>(grid.rows),
                               (x + 0.5) / columns_ * static_cast<double>(grid.cols));
    }
    const float value = weight(panel, x, y);
    const double none = figure_.scale.is_signed() ? 0.5 : 0;
    return std::isnan(value) ? none : place_on(figure_.scale, double{value});
  }

  Rgb layered(const ImagePanel& panel, int x, int y, Rgb color) const {
    for (const ImageBox& box : panel.boxes) {
      const CellBox cells = cell_box(box, columns_, 2 * lines_);
      // A frame as wide as its object would hide the weights below it.
      const bool small = cells.right - cells.left < 5 || cells.bottom - cells.top < 5;
      if (small && !panel.weights.empty()) continue;
      if (cells.has_edge(x, y)) return object_color(box.color);
    }
    if (!panel.weights.empty()) {
      const Tint tint = tint_of(colors_, place(panel, x, y), figure_.scale.is_signed());
      color = mix(color, tint.color, tint.cover);
    }
    for (const ImageMask& mask : panel.masks) {
      if (holds(mask, x, y)) color = mix(color, object_color(mask.color), kMapTint);
    }
    return color;
  }

  const ImageFigure& figure_;
  const Terminal& terminal_;
  const ColorMap& colors_;
  ColorMap bar_colors_;
  Picture ground_;
  CellPainter cells_;
  std::vector<SmoothPlaces> smooth_;  // of the panels with weights, where they are smoothed
  size_t title_lines_ = 1;
  int columns_ = 8;
  int lines_ = 4;
};

}  // namespace

std::string draw(const ImageFigure& figure, const Terminal& terminal, const ColorMap& colors) {
  check_image(figure);
  if (figure.layout == ImageLayout::kParts) return draw_parts(figure, terminal, colors);
  return without_trailing_spaces(
      (figure.text.title.empty() ? "" : title_lines(figure.text, terminal)) +
      ImagePainter(figure, terminal, colors).draw() + caption_lines(figure.text, terminal));
}

}  // namespace fovea
