#include "fovea/cli/draw/cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

#include "fovea/base/utf8.h"
#include "fovea/cli/draw/text.h"
#include "fovea/figure/color_axis.h"

namespace fovea {
namespace {

constexpr std::string_view kForbidden = "·";

struct Shade {
  double from;  // share of the scale
  std::string_view sign;
};
constexpr std::array<Shade, 5> kShades{
    {{0, " "}, {1.0 / 16, "░"}, {1.0 / 4, "▒"}, {1.0 / 2, "▓"}, {3.0 / 4, "█"}}};
// Below 0, where both signs count.
constexpr std::array<Shade, 4> kShadesBelow{
    {{0, " "}, {1.0 / 16, "-"}, {1.0 / 4, "="}, {1.0 / 2, "≡"}}};

}  // namespace

CellSheet pool_cells(const Tensor& weights, int64_t row_block, int64_t col_block) {
  const MatrixView<const float> view = weights.matrix<float>();
  CellSheet grid{.rows = (view.rows + row_block - 1) / row_block,
                 .cols = (view.cols + col_block - 1) / col_block,
                 .row_block = row_block,
                 .col_block = col_block,
                 .weights = {}};
  grid.weights.assign(static_cast<size_t>(grid.rows * grid.cols),
                      std::numeric_limits<float>::quiet_NaN());
  for (int64_t r = 0; r < view.rows; ++r) {
    for (int64_t c = 0; c < view.cols; ++c) {
      float& cell = grid.weights[static_cast<size_t>(r / row_block * grid.cols + c / col_block)];
      cell = std::fmax(cell, view(r, c));  // fmax takes the number where one is NaN
    }
  }
  return grid;
}

CellSheet mean_cells(const Tensor& weights, int64_t row_block, int64_t col_block) {
  CellSheet grid = pool_cells(weights, row_block, col_block);
  const MatrixView<const float> view = weights.matrix<float>();
  std::vector<double> sums(grid.weights.size());
  std::vector<int64_t> counts(grid.weights.size());
  for (int64_t r = 0; r < view.rows; ++r) {
    for (int64_t c = 0; c < view.cols; ++c) {
      if (std::isnan(view(r, c))) continue;
      const auto cell = static_cast<size_t>(r / row_block * grid.cols + c / col_block);
      sums[cell] += double{view(r, c)};
      ++counts[cell];
    }
  }
  for (size_t i = 0; i < sums.size(); ++i) {
    if (counts[i] > 0) grid.weights[i] = static_cast<float>(sums[i] / double(counts[i]));
  }
  return grid;
}

CellSheet overview_cells(const ColorScale& scale, const Tensor& weights, int64_t row_block,
                         int64_t col_block) {
  return scale.times_even ? mean_cells(weights, row_block, col_block)
                          : pool_cells(weights, row_block, col_block);
}

std::string overview_note(const ColorScale& scale, int64_t row_block, int64_t col_block,
                          int64_t row_step, int64_t col_step) {
  if (!scale.times_even) {
    return fmt::format("each cell is the largest of {} x {} weights", row_block * row_step,
                       col_block * col_step);
  }
  return fmt::format("each cell is the mean of {} x {} {}", row_block, col_block,
                     row_step > 1 || col_step > 1 ? "bins" : "values");
}

double CellPainter::share(float weight) const {
  if (!(scale_.high > scale_.low)) return 0;
  return std::clamp(place_on(scale_, double{weight}), 0.0, 1.0);
}

std::string_view CellPainter::shade(float weight) const {
  if (std::isnan(weight)) return kForbidden;
  std::string_view sign;
  const bool differences = scale_.low < 0;
  const double size = differences ? std::abs(double{weight}) / scale_.high : share(weight);
  const std::span<const Shade> steps =
      differences && weight < 0 ? std::span<const Shade>(kShadesBelow) : kShades;
  for (const Shade& step : steps) {
    if (size >= step.from) sign = step.sign;
  }
  return sign;
}

std::string CellPainter::on(float weight, std::string_view text) const {
  return std::isnan(weight) ? terminal_.dim(text) : terminal_.on(color(weight), text);
}

std::string CellPainter::block(float weight, int width) const {
  if (std::isnan(weight)) return terminal_.dim(padded_right(kForbidden, width));
  if (!terminal_.has_color()) return repeated(shade(weight), width);
  return terminal_.on(color(weight), repeated(" ", width));
}

std::string CellPainter::stacked(float top, float bottom) const {
  if (std::isnan(top) && std::isnan(bottom)) return terminal_.dim(kForbidden);
  if (std::isnan(bottom)) return terminal_.ink(color(top), "▀");
  if (std::isnan(top)) return terminal_.ink(color(bottom), "▄");
  return terminal_.painted(color(top), color(bottom), "▀");
}

std::string CellPainter::line(const CellSheet& grid, int64_t row, int cell_width, bool stacked_rows,
                              std::span<const int64_t> grey) const {
  const CellPainter apart = grey_cells(terminal_);
  std::string text;
  for (int64_t c = 0; c < grid.cols; ++c) {
    const bool is_grey = grid.col_block == 1 && std::ranges::binary_search(grey, c);
    const CellPainter& painter = is_grey ? apart : *this;
    if (!stacked_rows) {
      text += painter.block(grid.at(row, c), cell_width);
    } else if (row + 1 < grid.rows) {
      text += painter.stacked(grid.at(row, c), grid.at(row + 1, c));
    } else {
      text += painter.stacked(grid.at(row, c), std::numeric_limits<float>::quiet_NaN());
    }
  }
  return text;
}

namespace {

// Most terminals are dark, so low is dark there.
const ColorMap& greys_on_dark() {
  static const ColorMap map = [] {
    std::array<Rgb, 256> table = grey_colors().table();
    std::ranges::reverse(table);
    return ColorMap("grey", "nearly black to white", false, table);
  }();
  return map;
}

}  // namespace

CellPainter CellPainter::grey_cells(const Terminal& terminal) {
  return {terminal, greys_on_dark(), {0, 1}};
}

std::string CellPainter::grey_legend(const Terminal& terminal, std::string_view name) {
  constexpr int kSteps = 20;
  std::string text = "0 ";
  if (terminal.has_color()) {
    for (int i = 0; i < kSteps; ++i) {
      text += terminal.on(greys_on_dark().at(i / double{kSteps - 1}), " ");
    }
  } else {
    for (const Shade& step : kShades) text += step.sign;
  }
  return text + " 1 " + std::string(name) + "\n";
}

// A bar with its ends and, in the middle, the value there; without colours "░ ÷20  ▒ ÷5.7 ...".
std::string CellPainter::curved_legend() const {
  const auto number = [&](double place) { return scale_text(scale_, value_at(scale_, place)); };
  const std::string low = (scale_.below ? "◂ " : "") + number(0) + " ";
  const std::string high =
      number(1) + (scale_.above ? " ▸" : "") +
      (scale_.times_even ? " times even" : fmt::format(" ({})", name_of(scale_.curve)));
  if (!terminal_.has_color()) {
    std::string text = low;
    for (const Shade& step : kShades) {
      if (step.from > 0) text += fmt::format("{} {}  ", step.sign, number(step.from));
    }
    return wrapped(text + "to " + high, terminal_.width);
  }
  constexpr int kWidestBar = 41;
  const std::string middle = " " + number(0.5) + " ";
  const int least = display_width(middle) + 2;
  const int rest = display_width(low) + 1 + display_width(high);
  const int steps = std::clamp(terminal_.width - rest, least, kWidestBar);
  const int before = (steps - display_width(middle)) / 2;
  std::string bar;
  for (int i = 0; i < steps; ++i) {
    const bool hidden = i >= before && i < before + display_width(middle);
    if (i == before) bar += terminal_.on(colors_.at(0.5), middle);
    if (!hidden) bar += terminal_.on(colors_.at(i / double(steps - 1)), " ");
  }
  return low + bar + " " + high;
}

std::string CellPainter::legend(bool forbidden, bool clipped) const {
  if (scale_.curve != ScaleCurve::kLinear || scale_.times_even) {
    return curved_legend() + "\n" + (forbidden ? fmt::format("{} not allowed\n", kForbidden) : "");
  }
  clipped = clipped || scale_.above;
  const auto number = [&](double value) {  // two decimals say nothing of small weights
    return scale_.high < 0.1 ? fmt::format("{:.2g}", value) : fmt::format("{:.2f}", value);
  };
  const std::string high = number(scale_.high) + (clipped ? " or more" : "");
  std::string text;
  int width = 0;
  if (terminal_.has_color()) {
    constexpr int kSteps = 20;
    const std::string low = fmt::format("{:.2g} ", scale_.low);
    text = low;
    for (int i = 0; i < kSteps; ++i) {
      text += terminal_.on(colors_.at(i / double{kSteps - 1}), " ");
    }
    text += " " + high;
    width = static_cast<int>(low.size() + high.size()) + kSteps + 1;
  } else {
    for (const Shade& step : kShades) {
      if (step.from == 0) continue;
      const double low = std::max(scale_.low, 0.0);
      text += fmt::format("{} {}  ", step.sign, number(low + step.from * (scale_.high - low)));
    }
    text += "to " + high + (scale_.low < 0 ? "  - = ≡ below 0" : "");
    width = display_width(text);
  }
  if (!forbidden) return text + "\n";
  const std::string note = fmt::format("{} not allowed", kForbidden);
  const bool fits = width + 3 + display_width(note) <= terminal_.width;
  return text + (fits ? "   " : "\n") + note + "\n";
}

}  // namespace fovea
