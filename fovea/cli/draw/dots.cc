// One number per head and layer, as a table.
#include <fmt/format.h>

#include <algorithm>

#include "fovea/cli/draw/draw.h"
#include "fovea/cli/draw/text.h"
#include "fovea/cli/table.h"

namespace fovea {

std::string draw(const DotsFigure& figure, const Terminal& terminal, const ColorMap&) {
  const auto values = figure.values.matrix<float>();
  Table table{.corner = figure.group_name,
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
  for (const TextLine& line : draw_table(table, terminal, terminal.width)) text += line.text + "\n";
  if (figure.reference) text += "\n" + terminal.dim(figure.reference_name) + "\n";
  return without_trailing_spaces(text + "\n" + caption_lines(figure.text, terminal));
}

}  // namespace fovea
