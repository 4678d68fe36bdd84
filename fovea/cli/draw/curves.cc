// Curves as a table of their points.
#include <fmt/format.h>

#include <algorithm>

#include "fovea/cli/draw/draw.h"
#include "fovea/cli/draw/text.h"
#include "fovea/cli/table.h"

namespace fovea {

std::string draw(const CurvesFigure& figure, const Terminal& terminal, const ColorMap& colors) {
  std::string text =
      title_lines(figure.text, terminal) + wrapped(figure.value_name, terminal.width) + "\n";
  std::vector<TextBlock> blocks;
  for (const CurvePanel& panel : figure.panels) {
    const auto rows = static_cast<int64_t>(panel.shares.size());
    NumberTable table{.corner = panel.title,
                      .values = Matrix(rows, 4),
                      .row_labels = {},
                      .col_labels = {"value", "mean", "low", "high"},
                      .formats = {NumberFormat::for_weights()},
                      .most_rows = 24};
    for (int64_t r = 0; r < rows; ++r) {
      const auto i = static_cast<size_t>(r);
      table.row_labels.push_back(fmt::format("{:.0f} %", 100 * panel.shares[i]));
      table.values(r, 0) = panel.values[i];
      table.values(r, 1) = panel.mean[i];
      table.values(r, 2) = panel.low[i];
      table.values(r, 3) = panel.high[i];
    }
    blocks.push_back(draw_table(table, terminal, colors, terminal.width));
  }
  text += side_by_side(blocks, 0, terminal.width);
  const std::string names = fmt::format("value: {}; mean: {}; low and high: {}", figure.curve_name,
                                        figure.mean_name, figure.band_name);
  text += "\n" + terminal.dim(wrapped(names, terminal.width));
  return without_trailing_spaces(text + "\n" + caption_lines(figure.text, terminal));
}

std::string draw(const DotsFigure& figure, const Terminal& terminal, const ColorMap& colors) {
  const auto values = figure.values.matrix<float>();
  NumberTable table{.corner = figure.group_name,
                    .values = Matrix(values.rows, values.cols),
                    .row_labels = figure.groups,
                    .col_labels = figure.series,
                    .formats = {},
                    .shade_to = double{std::ranges::max(figure.values.values<float>())},
                    .notes = {},
                    .most_rows = 48};
  for (int64_t r = 0; r < values.rows; ++r) {
    double sum = 0;
    for (int64_t c = 0; c < values.cols; ++c) {
      table.values(r, c) = double{values(r, c)};
      sum += double{values(r, c)};
    }
    table.notes.push_back(fmt::format("mean {:.0f}", sum / static_cast<double>(values.cols)));
  }
  table.formats.push_back(NumberFormat::for_values(table.values.values(), 0));
  std::string text = title_lines(figure.text, terminal) + figure.value_name + "\n";
  for (const TextLine& line : draw_table(table, terminal, colors, terminal.width))
    text += line.text + "\n";
  if (figure.reference) text += "\n" + terminal.dim(figure.reference_name) + "\n";
  return without_trailing_spaces(text + "\n" + caption_lines(figure.text, terminal));
}

}  // namespace fovea
