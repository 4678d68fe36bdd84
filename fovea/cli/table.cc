#include "fovea/cli/table.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/utf8.h"
#include "fovea/cli/draw/text.h"

namespace fovea {
namespace {

constexpr int64_t kColumnGap = -1;  // stands for what was left out
constexpr int kWidestLabel = 14;
constexpr int kWidestHeading = 10;
constexpr int kGridGap = 2;

// Collects a line and counts its columns.
class LineWriter {
 public:
  void add(const std::string& plain) { add(plain, plain); }
  void add(const std::string& plain, const std::string& styled) {
    line_.text += styled;
    line_.width += display_width(plain);
  }
  TextLine take() { return std::move(line_); }

 private:
  TextLine line_;
};

// Indices 0 to count - 1, the middle replaced by one kGap if there are more than `most`.
std::vector<int64_t> pick(int64_t count, int64_t most, std::optional<int64_t> kept) {
  std::vector<int64_t> picked;
  if (count <= most) {
    for (int64_t i = 0; i < count; ++i) picked.push_back(i);
    return picked;
  }
  const int64_t head = (most + 1) / 2;
  const int64_t tail = count - (most - head);
  for (int64_t i = 0; i < head; ++i) picked.push_back(i);
  picked.push_back(kColumnGap);
  if (kept && *kept >= head && *kept < tail) {
    picked.push_back(*kept);
    picked.push_back(kColumnGap);
  }
  for (int64_t i = tail; i < count; ++i) picked.push_back(i);
  return picked;
}

class TablePainter {
 public:
  TablePainter(const Table& table, const Terminal& terminal, int width)
      : table_(table), terminal_(terminal) {
    rows_ = pick(table.values.rows(), table.most_rows, table.kept_row);
    for (const auto& label : table.row_labels) row_labels_.push_back(shorten(label, kWidestLabel));
    label_width_ = display_width(table.corner);
    for (const int64_t r : rows_) {
      if (r != kColumnGap) label_width_ = std::max(label_width_, display_width(row_label(r)));
    }
    brackets_ = table.marked_row.has_value();
    for (int64_t c = 0; c < table.values.cols(); ++c) widths_.push_back(column_width(c));
    ++label_width_;  // the cells bring one more space of their own
    fit_columns(width);
  }

  TextBlock draw() {
    TextBlock block;
    block.push_back(heading());
    for (const int64_t r : rows_) {
      if (table_.rule_above_last && r + 1 == table_.values.rows()) block.push_back(rule_line());
      block.push_back(r == kColumnGap ? gap_line() : row_line(r));
    }
    return block;
  }

 private:
  const std::string& row_label(int64_t r) const { return row_labels_[static_cast<size_t>(r)]; }
  std::string heading_of(int64_t c) const {
    return shorten(table_.col_labels[static_cast<size_t>(c)], kWidestHeading);
  }
  const NumberFormat& format_of(int64_t c) const {
    return table_.formats.size() == 1 ? table_.formats[0] : table_.formats[static_cast<size_t>(c)];
  }
  int width_of(int64_t c) const { return c == kColumnGap ? 1 : widths_[static_cast<size_t>(c)]; }

  int column_width(int64_t c) const {
    int width = display_width(heading_of(c));
    for (const int64_t r : rows_) {
      if (r == kColumnGap) continue;
      width = std::max(width, display_width(format_of(c)(table_.values(r, c))));
    }
    return width;
  }

  int sum_width() const {
    if (table_.sums.empty()) return 0;
    int width = 3;
    for (const double sum : table_.sums) {
      width = std::max(width, display_width(table_.formats.back()(sum)));
    }
    return width + 5;  // "  │ " before and a space behind
  }

  int note_width() const {
    int widest = 0;
    for (const auto& note : table_.notes) widest = std::max(widest, display_width(note) + 1);
    return widest;
  }

  void fit_columns(int width) {
    const int available = width - label_width_ - sum_width() - note_width();
    const int64_t cols = table_.values.cols();
    int64_t most = cols;
    do {
      columns_ = pick(cols, most, table_.marked_col);
      int needed = 0;
      for (const int64_t c : columns_) needed += width_of(c) + 2;
      if (needed <= available) return;
    } while (--most >= 2);
  }

  TextLine heading() const {
    LineWriter line;
    const std::string corner = padded_right(table_.corner, label_width_);
    line.add(corner, terminal_.bold(corner));
    for (const int64_t c : columns_) {
      const std::string text =
          " " + padded_left(c == kColumnGap ? "…" : heading_of(c), width_of(c)) + " ";
      line.add(text, terminal_.dim(text));
    }
    if (!table_.sums.empty()) {
      const std::string text = " │ " + padded_left("sum", sum_width() - 5);
      line.add(text, terminal_.dim(text));
    }
    return line.take();
  }

  TextLine row_line(int64_t r) const {
    LineWriter line;
    line.add(padded_right(row_label(r), label_width_));
    for (const int64_t c : columns_) add_cell(line, r, c);
    if (!table_.sums.empty()) {
      line.add(" │ ", terminal_.dim(" │ "));
      line.add(
          padded_left(table_.formats.back()(table_.sums[static_cast<size_t>(r)]), sum_width() - 5));
    }
    if (!table_.notes.empty()) line.add(" " + table_.notes[static_cast<size_t>(r)]);
    return line.take();
  }

  void add_cell(LineWriter& line, int64_t r, int64_t c) const {
    if (c == kColumnGap) {
      line.add(" … ", terminal_.dim(" … "));
      return;
    }
    const double value = table_.values(r, c);
    std::string text = " " + padded_left(format_of(c)(value), width_of(c)) + " ";
    if (brackets_ && table_.marked_row == r && table_.marked_col == c) {
      const size_t first = text.find_first_not_of(' ');
      text[first - 1] = '[';
      text.back() = ']';
    }
    if (!std::isfinite(value)) {
      line.add(text, terminal_.dim(text));
    } else if (!table_.backgrounds.empty()) {
      const auto index = static_cast<size_t>(r * table_.values.cols() + c);
      line.add(text, terminal_.on(table_.backgrounds[index], text));
    } else if (table_.shade_to) {
      // Up to 0.85 of the map: the last, palest colours are too loud behind text.
      const double share = *table_.shade_to > 0 ? value / *table_.shade_to : 0;
      line.add(text, terminal_.on(inferno().at(0.85 * share), text));
    } else {
      line.add(text);
    }
  }

  TextLine gap_line() const {
    LineWriter line;
    const std::string label = padded_right("⋮", label_width_);
    line.add(label, terminal_.dim(label));
    for (const int64_t c : columns_) {
      const std::string text = " " + padded_left("⋮", width_of(c)) + " ";
      line.add(text, terminal_.dim(text));
    }
    return line.take();
  }

  TextLine rule_line() const {
    int width = label_width_ - 1;
    for (const int64_t c : columns_) width += width_of(c) + 2;
    std::string rule;
    for (int i = 0; i < width; ++i) rule += "─";
    return {terminal_.dim(rule), width};
  }

  const Table& table_;
  const Terminal& terminal_;
  std::vector<int64_t> rows_;
  std::vector<int64_t> columns_;
  std::vector<std::string> row_labels_;
  std::vector<int> widths_;
  int label_width_ = 0;
  bool brackets_ = false;
};

std::string cell_label(const Grid& grid, const GridRow& row) {
  return shorten(row.label, grid.widest_label);
}

std::vector<int> column_widths(const Grid& grid) {
  std::vector<int> widths;
  for (const std::string& name : grid.heading) widths.push_back(display_width(name));
  for (const GridRow& row : grid.rows) {
    widths[0] = std::max(widths[0], display_width(cell_label(grid, row)));
    for (size_t c = 0; c < row.cells.size(); ++c) {
      widths[c + 1] = std::max(widths[c + 1], display_width(row.cells[c]));
    }
  }
  return widths;
}

int total_width(const std::vector<int>& widths) {
  int total = kGridGap * static_cast<int>(widths.size() - 1);
  for (const int width : widths) total += width;
  return total;
}

int block_width(const TextBlock& block) {
  int widest = 0;
  for (const TextLine& line : block) widest = std::max(widest, line.width);
  return widest;
}

// Without the spaces that pad the last column; a line that ends in a colour keeps them.
std::string without_padding(const std::string& text) {
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

}  // namespace

TextBlock draw_table(const Table& table, const Terminal& terminal, int width) {
  return TablePainter(table, terminal, width).draw();
}

int grid_width(const Grid& grid) {
  return total_width(column_widths(grid));
}

TextBlock draw_grid(const Grid& grid, const Terminal& terminal) {
  const std::vector<int> widths = column_widths(grid);
  const int width = total_width(widths);
  TextBlock block;
  std::string heading = padded_right(grid.heading[0], widths[0]);
  for (size_t c = 1; c < widths.size(); ++c) {
    heading += repeated(" ", kGridGap) + padded_left(grid.heading[c], widths[c]);
  }
  block.push_back({terminal.dim(heading), width});
  for (size_t r = 0; r < grid.rows.size(); ++r) {
    const GridRow& row = grid.rows[r];
    if (grid.total && r + 1 == grid.rows.size()) {
      block.push_back({terminal.dim(repeated("─", width)), width});
    }
    const std::string name = cell_label(grid, row);
    std::string text = (row.marked ? terminal.marked(name) : isolated(name)) +
                       repeated(" ", widths[0] - display_width(name));
    for (size_t c = 0; c + 1 < widths.size(); ++c) {
      text += repeated(" ", kGridGap) +
              padded_left(c < row.cells.size() ? row.cells[c] : "", widths[c + 1]);
    }
    text += repeated(" ", kGridGap) + row.note.text;
    block.push_back({text, width + kGridGap + row.note.width});
  }
  return block;
}

std::string side_by_side(const std::vector<TextBlock>& blocks, int indent, int width) {
  constexpr int kBetween = 4;
  std::string result;
  for (size_t first = 0; first < blocks.size();) {
    size_t last = first + 1;
    int used = indent + block_width(blocks[first]);
    size_t lines = blocks[first].size();
    while (last < blocks.size() && used + kBetween + block_width(blocks[last]) <= width) {
      used += kBetween + block_width(blocks[last]);
      lines = std::max(lines, blocks[last].size());
      ++last;
    }
    if (first > 0) result += '\n';
    for (size_t i = 0; i < lines; ++i) {
      std::string line = repeated(" ", indent);
      for (size_t b = first; b < last; ++b) {
        const TextLine part = i < blocks[b].size() ? blocks[b][i] : TextLine{};
        line += part.text +
                repeated(" ", block_width(blocks[b]) - part.width + (b + 1 < last ? kBetween : 0));
      }
      result += without_padding(line) + '\n';
    }
    first = last;
  }
  return result;
}

std::vector<std::string> numbered(int64_t count) {
  std::vector<std::string> labels;
  for (int64_t i = 0; i < count; ++i) labels.push_back(std::to_string(i));
  return labels;
}

std::string bar(double value, int width) {
  static constexpr std::string_view kParts[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto eighths = static_cast<int>(std::lround(std::clamp(value, 0.0, 1.0) * width * 8));
  std::string text;
  for (int i = 0; i < eighths / 8; ++i) text += "█";
  return text + std::string(kParts[eighths % 8]);
}

}  // namespace fovea
