// Small multiples: each head a small map under its name.
#include <fmt/format.h>

#include <algorithm>

#include "fovea/base/utf8.h"
#include "fovea/cli/draw/cells.h"
#include "fovea/cli/draw/draw.h"
#include "fovea/cli/draw/text.h"
#include "fovea/cli/table.h"

namespace fovea {
namespace {

// How all panels are drawn.
struct PanelStyle {
  int64_t row_block = 1;
  int64_t col_block = 1;
  int cell_width = 1;
  bool stacked = false;  // two rows of cells in a line
  ColorScale scale;
};

PanelStyle choose_style(const HeadsFigure& figure, const Terminal& terminal) {
  const int64_t rows = figure.panels.front().weights.size(0);
  const int64_t cols = figure.panels.front().weights.size(1);
  const int64_t longest = std::max(rows, cols);
  // Four across where the terminal is narrow, larger ones where it is wide.
  const int64_t most = figure.overview ? std::clamp<int64_t>((terminal.width - 4) / 3, 8, 30)
                                       : std::clamp<int64_t>(terminal.width / 4 - 3, 8, 32);
  PanelStyle style{.scale = figure.scale};
  if (2 * longest <= most) {
    style.cell_width = 2;
    return style;
  }
  style.row_block = style.col_block = (longest + most - 1) / most;
  style.stacked = terminal.has_color();
  if (!style.stacked) style.row_block *= 2;
  return style;
}

// Without colours an empty cell is a space, so a frame shows where the panel ends.
TextBlock draw_panel(const MapPanel& panel, std::string_view title, const PanelStyle& style,
                     const CellPainter& cells, const Terminal& terminal) {
  const CellSheet grid =
      overview_cells(style.scale, panel.weights, style.row_block, style.col_block);
  const int inner = static_cast<int>(grid.cols) * style.cell_width;
  const bool framed = !terminal.has_color();
  const int width = inner + (framed ? 2 : 0);
  const std::string name = shorten(printable(title), std::max(width, 7));
  TextBlock block{{terminal.dim(name), display_width(name)}};
  if (framed) block.push_back({"┌" + repeated("─", inner) + "┐", width});
  for (int64_t r = 0; r < grid.rows; r += style.stacked ? 2 : 1) {
    const std::string line = cells.line(grid, r, style.cell_width, style.stacked, panel.grey);
    block.push_back({framed ? "│" + line + "│" : line, width});
  }
  if (framed) block.push_back({"└" + repeated("─", inner) + "┘", width});
  return block;
}

// "layer 2 · head 3" is drawn as "head 3" under the heading "layer 2".
struct PanelName {
  std::string heading;
  std::string title;
};

PanelName panel_name(const MapPanel& panel) {
  constexpr std::string_view kJoint = " · ";
  std::string about = panel.kind.empty() ? "" : " " + panel.kind;
  if (panel.apart > 0) about += fmt::format(" {:.0f} %", 100 * panel.apart);
  const size_t joint = panel.title.find(kJoint);
  if (joint == std::string::npos) return {"", panel.title + about};
  return {panel.title.substr(0, joint), panel.title.substr(joint + kJoint.size()) + about};
}

}  // namespace

std::string draw(const HeadsFigure& figure, const Terminal& terminal, const ColorMap& colors) {
  std::string text = title_lines(figure.text, terminal);
  if (figure.panels.empty()) return text + caption_lines(figure.text, terminal);
  const PanelStyle style = choose_style(figure, terminal);
  const CellPainter cells(terminal, colors, figure.scale);
  bool forbidden = false;
  std::vector<TextBlock> blocks;
  std::string heading;
  const auto flush = [&] {
    if (!heading.empty()) text += terminal.bold(heading) + "\n";
    text += side_by_side(blocks, 0, terminal.width) + "\n";
    blocks.clear();
  };
  for (const MapPanel& panel : figure.panels) {
    const PanelName name = panel_name(panel);
    if (!blocks.empty() && name.heading != heading) flush();
    heading = name.heading;
    blocks.push_back(draw_panel(panel, name.title, style, cells, terminal));
    forbidden = forbidden || has_forbidden(panel.weights.matrix<float>());
  }
  flush();
  text += cells.legend(forbidden);
  const bool grey =
      std::ranges::any_of(figure.panels, [](const MapPanel& panel) { return !panel.grey.empty(); });
  if (grey && style.col_block == 1) text += CellPainter::grey_legend(terminal, figure.grey_name);
  if (style.row_block > 1 || style.col_block > 1) {
    const std::string note = overview_note(figure.scale, style.row_block, style.col_block);
    text += terminal.dim(wrapped(note, terminal.width)) + "\n";
  }
  return text + caption_lines(figure.text, terminal);
}

}  // namespace fovea
