// Kernels in the terminal: small maps, and their numbers in a table.
#include <algorithm>

#include "fovea/cli/draw/draw.h"
#include "fovea/cli/draw/text.h"
#include "fovea/cli/table.h"
#include "fovea/figure/contour.h"

namespace fovea {
namespace {

constexpr int64_t kMostKernelRows = 24;

double cells_with(const Tensor& weights, double share) {
  return static_cast<double>(
      std::ranges::count(cells_with_mass(weights.matrix<float>(), share), true));
}

NumberTable kernel_numbers(const KernelsFigure& figure) {
  const auto count = static_cast<int64_t>(figure.panels.size());
  NumberTable table{.corner = "",
                    .values = Matrix(count, 4),
                    .row_labels = {},
                    .col_labels = {"down", "right", "50 %", "90 %"},
                    .formats = {},
                    .notes = {},
                    .most_rows = kMostKernelRows};
  for (int64_t i = 0; i < count; ++i) {
    const KernelPanel& panel = figure.panels[static_cast<size_t>(i)];
    table.row_labels.push_back(panel.title);
    table.notes.push_back(panel.detail);
    table.values(i, 0) = panel.centre_row;
    table.values(i, 1) = panel.centre_col;
    table.values(i, 2) = cells_with(panel.weights, 0.5);
    table.values(i, 3) = cells_with(panel.weights, 0.9);
  }
  for (int64_t c = 0; c < 4; ++c) {
    const std::vector<double> column = table.values.column(c);
    table.formats.push_back(NumberFormat::for_values(column, 1));
  }
  return table;
}

}  // namespace

std::string draw(const KernelsFigure& figure, const Terminal& terminal, const ColorMap& colors) {
  if (figure.panels.empty()) return title_lines(figure.text, terminal);
  HeadsFigure maps{.text = {.title = figure.text.title, .caption = "", .metadata = {}},
                   .panels_across = figure.panels_across,
                   .scale = figure.scale};
  for (const KernelPanel& panel : figure.panels) {
    maps.panels.push_back({.title = panel.title, .weights = panel.weights});
  }
  std::string text = draw(maps, terminal, colors);
  text += "mean offset in patches, and how many cells hold 50 % and 90 %\n";
  for (const TextLine& line :
       draw_table(kernel_numbers(figure), terminal, colors, terminal.width)) {
    text += line.text + "\n";
  }
  return without_trailing_spaces(text + "\n" + caption_lines(figure.text, terminal));
}

}  // namespace fovea
