// Curves as a table of their points.
#include <fmt/format.h>

#include "fovea/cli/draw/draw.h"
#include "fovea/cli/draw/text.h"
#include "fovea/cli/table.h"

namespace fovea {

std::string draw(const CurvesFigure& figure, const Terminal& terminal, const ColorMap&) {
  std::string text =
      title_lines(figure.text, terminal) + wrapped(figure.value_name, terminal.width) + "\n";
  std::vector<TextBlock> blocks;
  for (const CurvePanel& panel : figure.panels) {
    const auto rows = static_cast<int64_t>(panel.shares.size());
    Table table{.corner = panel.title,
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
    blocks.push_back(draw_table(table, terminal, terminal.width));
  }
  text += side_by_side(blocks, 0, terminal.width);
  const std::string names = fmt::format("value: {}; mean: {}; low and high: {}", figure.curve_name,
                                        figure.mean_name, figure.band_name);
  text += "\n" + terminal.dim(wrapped(names, terminal.width));
  return without_trailing_spaces(text + "\n" + caption_lines(figure.text, terminal));
}

}  // namespace fovea
