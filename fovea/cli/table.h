// Tables for the terminal: labels on both axes, columns aligned whatever the script of the labels,
// too wide or too long ones shortened in the middle. A Table formats its numbers, a Grid has cells
// of text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fovea/attention/matrix.h"
#include "fovea/cli/number_format.h"
#include "fovea/cli/terminal.h"

namespace fovea {

// A line and the terminal columns it takes, which its bytes (colours, UTF-8) do not tell.
struct TextLine {
  std::string text;
  int width = 0;
};
using TextBlock = std::vector<TextLine>;

struct Table {
  std::string corner;                   // the name, top left
  Matrix values;                        // not finite: shown as ·
  std::vector<std::string> row_labels;  // one per row
  std::vector<std::string> col_labels;  // one per column
  std::vector<NumberFormat> formats;    // one for all columns, or one for each
  std::vector<Rgb> backgrounds{};       // one per entry; empty: none
  std::optional<double> shade_to{};     // background from 0 to this value; none: no background
  std::vector<double> sums{};           // a last column; empty: none
  std::vector<std::string> notes{};     // text after each row; empty: none
  std::optional<int64_t> kept_row{};    // never left out when rows are
  std::optional<int64_t> marked_row{};  // with marked_col: a cell put in [brackets]
  std::optional<int64_t> marked_col{};
  bool rule_above_last = false;  // the last row is a total
  int64_t most_rows = 16;
};

// At most `width` columns wide, if at all possible.
TextBlock draw_table(const Table& table, const Terminal& terminal, int width);

struct GridRow {
  std::string label;
  std::vector<std::string> cells;  // may be fewer than the columns
  TextLine note{};                 // behind the cells
  bool marked = false;             // what the user chose
};

// A name and right-aligned cells; a line above the last row if that is their sum.
struct Grid {
  std::vector<std::string> heading;  // of the label and of each cell
  std::vector<GridRow> rows;
  bool total = false;
  int widest_label = 14;
};

// The columns that a grid takes without its notes.
int grid_width(const Grid& grid);
TextBlock draw_grid(const Grid& grid, const Terminal& terminal);

// Blocks next to each other, as many in a row as `width` allows, each line indented by `indent`.
std::string side_by_side(const std::vector<TextBlock>& blocks, int indent, int width);

// "0", "1", ... for axes that have no names.
std::vector<std::string> numbered(int64_t count);

// A bar of `width` columns for a value between 0 and 1, in eighths of a column.
std::string bar(double value, int width);

}  // namespace fovea
