// One matrix: as numbers on colours, as blocks, or as an overview of what does not fit.
#include <fmt/format.h>

#include <algorithm>

#include "fovea/base/utf8.h"
#include "fovea/cli/draw/cells.h"
#include "fovea/cli/draw/draw.h"
#include "fovea/cli/draw/overview.h"
#include "fovea/cli/draw/text.h"

namespace fovea {
namespace {

constexpr int kLeastNumberCell = 5;  // " .31 "
constexpr int kWidestNumberCell = 9;
constexpr int64_t kMostMatrixRows = 64;  // with a line each; more are drawn as an overview
constexpr int64_t kMostOverviewRows = 96;
constexpr size_t kTallestHeading = 8;

// Whether labels have numbers of their own, as objects do: "1 cat".
bool have_numbers(const Axis& axis) {
  return std::ranges::all_of(axis.positions, [](const Position& position) {
    const size_t end = position.text.find_first_not_of("0123456789");
    return end > 0 && end != std::string::npos && position.text[end] == ' ';
  });
}

class MatrixPainter {
 public:
  MatrixPainter(const MatrixFigure& figure, const Terminal& terminal, const ColorMap& colors)
      : figure_(figure),
        terminal_(terminal),
        cells_(terminal, colors, figure.scale),
        grey_(CellPainter::grey_cells(terminal)),
        rows_(figure.weights.size(0)),
        cols_(figure.weights.size(1)) {
    digits_ = have_numbers(figure.rows)
                  ? 0
                  : static_cast<int>(std::to_string(figure.row_place.of(rows_ - 1)).size());
    // The rows of a generation say what they predict, which takes more room.
    const int most = figure.rows.name == "steps" ? terminal.width * 2 / 5
                     : terminal.width < 60       ? 9
                                                 : 14;
    label_width_ = are_numbers(figure.rows, figure.row_place) ? 0 : widest_label(figure.rows, most);
  }

  std::string draw() {
    const bool all_rows = rows_ <= kMostMatrixRows;
    if (const int cell = number_cell(); cell > 0 && all_rows) return with_numbers(cell);
    if (all_rows && cols_ <= room() / 2) return as_blocks();
    return as_overview();
  }

 private:
  // Mark, number, label and a space.
  int margin() const {
    return 2 + (digits_ > 0 ? digits_ + 1 : 0) + (label_width_ > 0 ? label_width_ + 1 : 0);
  }
  int64_t room() const { return terminal_.width - margin(); }

  // Columns of a cell with its number in it; 0 if there is no room.
  int number_cell() const {
    const int wanted = std::clamp(widest_label(figure_.cols, kWidestNumberCell) + 1,
                                  kLeastNumberCell, kWidestNumberCell);
    for (int width = wanted; width >= kLeastNumberCell; --width) {
      if (cols_ <= room() / width) return width;
    }
    return 0;
  }

  // Whether the cell, or of a pooled one any that it stands for, is a link.
  bool is_marked(const CellSheet& grid, int64_t row, int64_t col) const {
    return std::ranges::any_of(figure_.marks, [&](const CellMark& mark) {
      return mark.row / grid.row_block == row && mark.col / grid.col_block == col;
    });
  }

  // A line of cells with links written on them.
  std::string marked_line(const CellSheet& grid, int64_t row, std::string_view sign) const {
    std::string text;
    for (int64_t c = 0; c < grid.cols; ++c) {
      const float weight = grid.at(row, c);
      const CellPainter& painter = grid.col_block == 1 ? painter_of(c) : cells_;
      text += is_marked(grid, row, c) ? painter.on(weight, sign)
                                      : painter.block(weight, static_cast<int>(sign.size()));
    }
    return text;
  }

  const CellPainter& painter_of(int64_t col) const {
    return std::ranges::binary_search(figure_.grey, col) ? grey_ : cells_;
  }

  std::string row_heading(int64_t row) const {
    const bool chosen = figure_.chosen_row == row;
    const std::string number = padded_left(std::to_string(figure_.row_place.of(row)), digits_);
    if (label_width_ == 0) {
      return chosen ? terminal_.marked("▸ " + number) + " " : "  " + number + " ";
    }
    const std::string label = label_of(figure_.rows, row, label_width_);
    return (chosen ? terminal_.marked("▸") + " " : "  ") +
           (digits_ > 0 ? terminal_.dim(number) + " " : "") +
           (chosen ? terminal_.marked(label) : label) +
           repeated(" ", label_width_ - display_width(label) + 1);
  }

  std::string with_numbers(int cell) const {
    std::string text = repeated(" ", margin());
    for (int64_t c = 0; c < cols_; ++c) {
      const std::string label = label_of(figure_.cols, c, cell - 1);
      const int left = (cell - display_width(label) + 1) / 2;
      text += repeated(" ", left) + (figure_.chosen_col == c ? terminal_.marked(label) : label) +
              repeated(" ", cell - left - display_width(label));
    }
    text += "\n";
    const CellSheet grid = pool_cells(figure_.weights, 1, 1);
    for (int64_t r = 0; r < rows_; ++r) {
      text += row_heading(r);
      for (int64_t c = 0; c < cols_; ++c) {
        const float weight = grid.at(r, c);
        const std::string number = short_weight(double{weight});
        text += painter_of(c).on(
            weight, centred(is_marked(grid, r, c) ? "[" + number + "]" : number, cell));
      }
      text += "\n";
    }
    const std::string brackets = figure_.marks.empty() ? "" : "[ ] a link\n";
    if (terminal_.has_color()) return text + legend() + brackets;
    return text + "\n" + (has_forbidden(figure_.weights.matrix<float>()) ? "· not allowed\n" : "") +
           brackets;
  }

  // Labels of columns from top to bottom, ending at the cells.
  std::string tall_heading() const {
    std::vector<std::string> labels;
    std::vector<std::vector<std::string_view>> letters;
    size_t tallest = 1;
    labels.reserve(static_cast<size_t>(cols_));
    for (int64_t c = 0; c < cols_; ++c) {
      labels.push_back(printable(figure_.cols.positions[static_cast<size_t>(c)].text));
    }
    for (const std::string& label : labels) {
      letters.push_back(graphemes(label));
      if (letters.back().size() > kTallestHeading) {
        letters.back().resize(kTallestHeading - 1);
        letters.back().push_back("⋮");
      }
      tallest = std::max(tallest, letters.back().size());
    }
    std::string text;
    for (size_t line = 0; line < tallest; ++line) {
      text += repeated(" ", margin());
      for (size_t c = 0; c < letters.size(); ++c) {
        const size_t above = tallest - letters[c].size();
        const std::string letter = line < above ? " " : isolated(letters[c][line - above]);
        const bool chosen = figure_.chosen_col == static_cast<int64_t>(c) && line >= above;
        text +=
            (chosen ? terminal_.marked(letter) : letter) + repeated(" ", 2 - display_width(letter));
      }
      text += "\n";
    }
    return text;
  }

  std::string as_blocks() const {
    const CellSheet grid = pool_cells(figure_.weights, 1, 1);
    std::string text = tall_heading();
    for (int64_t r = 0; r < rows_; ++r) {
      text += row_heading(r) + marked_line(grid, r, "[]") + "\n";
    }
    return text + legend() + (figure_.marks.empty() ? "" : "[] a link\n");
  }

  // A number every ten columns.
  std::string ticks(const CellSheet& grid) const {
    constexpr int64_t kEvery = 10;
    std::string text = repeated(" ", margin());
    for (int64_t c = 0; c < grid.cols; c += kEvery) {
      const std::string number = std::to_string(figure_.col_place.of(c * grid.col_block));
      if (c > 0 && c + static_cast<int64_t>(number.size()) > grid.cols) break;
      text += padded_right(number, kEvery);
    }
    return terminal_.dim(text.substr(0, text.find_last_not_of(' ') + 1)) + "\n";
  }

  std::string as_overview() const {
    // A column is half as wide as a line is tall: two cells share a line, or one covers twice the
    // rows. Links need a line for each row.
    const bool links = !figure_.marks.empty();
    const bool stacked = terminal_.has_color() && !links;
    const int64_t wide = std::max<int64_t>(1, room());
    int64_t col_block = (cols_ + wide - 1) / wide;
    int64_t row_block = (rows_ + kMostOverviewRows - 1) / kMostOverviewRows;
    if (rows_ == cols_) row_block = col_block = std::max(row_block, col_block);
    if (!stacked && !links) row_block *= 2;
    const CellSheet grid = overview_cells(figure_.scale, figure_.weights, row_block, col_block);
    std::string text = ticks(grid);
    const int64_t line_rows = (stacked ? 2 : 1) * row_block;
    for (int64_t r = 0; r < grid.rows; r += stacked ? 2 : 1) {
      text += overview_heading(r * row_block, line_rows) +
              (links ? marked_line(grid, r, "o") : cells_.line(grid, r, 1, stacked)) + "\n";
    }
    text += legend() + (links ? "o a link\n" : "");
    const int64_t rows = row_block * figure_.row_place.step;
    const int64_t cols = col_block * figure_.col_place.step;
    std::string note;
    if (rows > 1 || cols > 1) {
      note = overview_note(figure_.scale, row_block, col_block, figure_.row_place.step,
                           figure_.col_place.step);
    }
    if (const int64_t held = line_rows * figure_.row_place.step; held > 1) {
      note += fmt::format("{}a line holds {} rows, named by the first", note.empty() ? "" : " · ",
                          held);
    }
    if (note.empty()) return text;
    return text + terminal_.dim(wrapped(note, terminal_.width)) + "\n";
  }

  // The heading of a line's first row, or of the chosen row if the line holds it.
  std::string overview_heading(int64_t first, int64_t count) const {
    const bool chosen =
        figure_.chosen_row && *figure_.chosen_row >= first && *figure_.chosen_row < first + count;
    return row_heading(chosen ? *figure_.chosen_row : first);
  }

  std::string legend() const {
    return "\n" + cells_.legend(has_forbidden(figure_.weights.matrix<float>())) +
           (figure_.grey.empty() ? "" : CellPainter::grey_legend(terminal_, figure_.grey_name));
  }

  const MatrixFigure& figure_;
  const Terminal& terminal_;
  CellPainter cells_;
  CellPainter grey_;
  int64_t rows_;
  int64_t cols_;
  int digits_ = 1;
  int label_width_ = 1;
};

}  // namespace

std::string draw(const AlignFigure& figure, const Terminal& terminal, const ColorMap& colors) {
  return draw(as_matrix(figure), terminal, colors);
}

std::string draw(const MatrixFigure& figure, const Terminal& terminal, const ColorMap& colors) {
  if (figure.overview) return draw_overview(figure, terminal, colors);
  return without_trailing_spaces(title_lines(figure.text, terminal) +
                                 MatrixPainter(figure, terminal, colors).draw() +
                                 caption_lines(figure.text, terminal));
}

}  // namespace fovea
