// A table as a figure: names down, columns of numbers or words across.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fovea/figure/figure_text.h"

namespace fovea {

enum class TableTone { kPlain, kStrong, kMuted };

struct TableColumn {
  std::string name;
  std::string detail = {};  // below it, smaller: "low is good"
  bool words = false;       // words align left and may wrap; numbers align right
};

struct TableCell {
  std::string text;
  std::string mark = {};   // after it, in its own place, so that numbers stay aligned: "+"
  std::string range = {};  // below it, smaller: "0.31–0.45"
  TableTone tone = TableTone::kPlain;
  std::optional<double> share = {};  // a bar behind the number, 0 to 1
};

struct TableRow {
  std::string label;
  std::vector<TableCell> cells;  // may be fewer than the columns
  std::string group = {};        // a heading above this row and those that follow
  bool marked = false;           // the one that was chosen
  bool total = false;            // a line separates it from those above
};

struct TableFigure {
  FigureText text;
  std::string label_name;  // above the labels
  std::vector<TableColumn> columns;
  std::vector<TableRow> rows;
  std::vector<std::string> notes = {};  // a paragraph each, below
};

}  // namespace fovea
