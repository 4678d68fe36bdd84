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
constexpr int kMostBar = 20, kLeastBar = 8;
constexpr int kLeastLabel = 6;

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

// Indices 0 to count - 1, the middle replaced by one kColumnGap if there are more than `most`.
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
  TablePainter(const NumberTable& table, const Terminal& terminal, const ColorMap& colors,
               int width)
      : table_(table), terminal_(terminal), colors_(colors) {
    rows_ = pick(table.values.rows(), table.most_rows, table.kept_row);
    label_width_ = display_width(printable(table.corner));
    for (const int64_t r : rows_) {
      if (r != kColumnGap) label_width_ = std::max(label_width_, display_width(row_label(r)));
    }
    for (const std::string& note : table.notes) {
      note_width_ = std::max(note_width_, display_width(printable(note)));
    }
    if (!table.bars.empty()) bar_width_ = kMostBar;
    brackets_ = table.marked_col.has_value();
    for (int64_t c = 0; c < table.values.cols(); ++c) widths_.push_back(column_width(c));
    ++label_width_;  // the cells bring one more space of their own
    fit(width);
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
  // Behind the columns: the sums, and before them what of a sum the columns do not show.
  struct Total {
    std::string name;
    std::vector<double> values;
    int width;
  };

  std::string row_label(int64_t r) const {
    if (table_.row_labels.empty()) return "";
    return shorten(printable(table_.row_labels[static_cast<size_t>(r)]), kWidestLabel);
  }
  std::string heading_of(int64_t c) const {
    if (table_.col_labels.empty()) return "";
    return shorten(printable(table_.col_labels[static_cast<size_t>(c)]), kWidestHeading);
  }
  int width_of(int64_t c) const { return c == kColumnGap ? 1 : widths_[static_cast<size_t>(c)]; }

  int column_width(int64_t c) const {
    int width = display_width(heading_of(c));
    for (const int64_t r : rows_) {
      if (r == kColumnGap) continue;
      width = std::max(width, display_width(table_.format_of(c)(table_.values(r, c))));
    }
    return width;
  }

  void add_total(std::string name, std::vector<double> values) {
    int width = display_width(name);
    for (const double value : values) {
      width = std::max(width, display_width(table_.formats.back()(value)));
    }
    totals_.push_back({std::move(name), std::move(values), width});
  }

  void choose_columns(int64_t most) {
    columns_ = pick(table_.values.cols(), most, table_.marked_col);
    totals_.clear();
    if (table_.sums.empty()) return;
    if (table_.rest) {
      std::vector<double> rest = table_.sums;
      for (const int64_t c : columns_) {
        for (size_t r = 0; c != kColumnGap && r < rest.size(); ++r) {
          rest[r] -= table_.values(static_cast<int64_t>(r), c);
        }
      }
      add_total("rest", std::move(rest));
    }
    add_total("sum", table_.sums);
  }

  int needed_width() const {
    int width = label_width_ + bar_width_ + note_width_ + (bar_width_ > 0) + (note_width_ > 0);
    for (const int64_t c : columns_) width += width_of(c) + 2;
    for (const Total& total : totals_) width += total.width + 2;
    return width + (totals_.empty() ? 0 : 1);
  }

  // Bars become shorter and go before a column is left out; then the rest gives way.
  void fit(int width) {
    const auto shrink = [&](int& part, int least) {
      part -= std::clamp(needed_width() - width, 0, std::max(part - least, 0));
    };
    int64_t most = table_.values.cols();
    const auto leave_out = [&](int64_t least) {
      while (needed_width() > width && most > least) choose_columns(--most);
    };
    choose_columns(most);
    shrink(bar_width_, kLeastBar);
    if (needed_width() > width) bar_width_ = 0;
    leave_out(2);
    shrink(label_width_, kLeastLabel);
    leave_out(0);
    shrink(note_width_, 0);
    const int room = width - needed_width() - 1;
    if (!table_.bars.empty() && bar_width_ == 0 && room >= kLeastBar) {
      bar_width_ = std::min(room, kMostBar);
    }
  }

  // A line's totals; of none their names.
  std::string totals(std::optional<int64_t> r) const {
    std::string text;
    for (const Total& total : totals_) {
      text +=
          (text.empty() ? "" : "  ") +
          padded_left(r ? table_.formats.back()(total.values[static_cast<size_t>(*r)]) : total.name,
                      total.width);
    }
    return text;
  }

  TextLine heading() const {
    LineWriter line;
    const std::string corner =
        padded_right(shorten(printable(table_.corner), label_width_ - 1), label_width_);
    line.add(corner, terminal_.bold(corner));
    for (const int64_t c : columns_) {
      const std::string text =
          " " + padded_left(c == kColumnGap ? "…" : heading_of(c), width_of(c)) + " ";
      line.add(text, terminal_.dim(text));
    }
    if (!totals_.empty()) line.add(" │ " + totals({}), terminal_.dim(" │ " + totals({})));
    return line.take();
  }

  TextLine row_line(int64_t r) const {
    LineWriter line;
    const std::string label = shorten(row_label(r), label_width_ - 1);
    const bool chosen = table_.marked_row == r && !brackets_;
    line.add(label, chosen ? terminal_.marked(label) : label);
    line.add(repeated(" ", label_width_ - display_width(label)));
    for (const int64_t c : columns_) add_cell(line, r, c);
    if (!totals_.empty()) {
      line.add(" │ ", terminal_.dim(" │ "));
      line.add(totals(r));
    }
    if (bar_width_ > 0) {
      const double share = table_.bars[static_cast<size_t>(r)];
      const std::string text = " " + bar(share, bar_width_);
      line.add(text, terminal_.ink(colors_.at(0.45 + 0.3 * share), text));
      if (note_width_ > 0) line.add(repeated(" ", bar_width_ + 1 - display_width(text)));
    }
    if (note_width_ > 0) {
      line.add(" " + shorten(printable(table_.notes[static_cast<size_t>(r)]), note_width_));
    }
    return line.take();
  }

  void add_cell(LineWriter& line, int64_t r, int64_t c) const {
    if (c == kColumnGap) {
      line.add(" … ", terminal_.dim(" … "));
      return;
    }
    const double value = table_.values(r, c);
    std::string text = " " + padded_left(table_.format_of(c)(value), width_of(c)) + " ";
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
      line.add(text, terminal_.on(colors_.at(0.85 * share), text));
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

  const NumberTable& table_;
  const Terminal& terminal_;
  const ColorMap& colors_;
  std::vector<int64_t> rows_;
  std::vector<int64_t> columns_;
  std::vector<Total> totals_;
  std::vector<int> widths_;
  int label_width_ = 0, bar_width_ = 0, note_width_ = 0;
  bool brackets_ = false;
};

int block_width(const TextBlock& block) {
  int widest = 0;
  for (const TextLine& line : block) widest = std::max(widest, line.width);
  return widest;
}

}  // namespace

TextBlock draw_table(const NumberTable& table, const Terminal& terminal, const ColorMap& colors,
                     int width) {
  return TablePainter(table, terminal, colors, width).draw();
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
      result += without_trailing_spaces(line) + '\n';
    }
    first = last;
  }
  return result;
}

std::string bar(double value, int width) {
  static constexpr std::string_view kParts[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto eighths = static_cast<int>(std::lround(std::clamp(value, 0.0, 1.0) * width * 8));
  std::string text;
  for (int i = 0; i < eighths / 8; ++i) text += "█";
  return text + std::string(kParts[eighths % 8]);
}

std::string signed_bar(double value, int width) {
  const int side = std::max(width - 1, 0) / 2;
  if (value >= 0) return std::string(static_cast<size_t>(side), ' ') + "│" + bar(value, side);
  // There are no blocks of eighths that begin on the right, but halves.
  const auto halves = static_cast<int>(std::lround(std::clamp(-value, 0.0, 1.0) * side * 2));
  const int cells = (halves + 1) / 2;
  std::string text(static_cast<size_t>(side - cells), ' ');
  if (halves % 2 != 0) text += "▐";
  for (int i = 0; i < halves / 2; ++i) text += "█";
  return text + "│";
}

}  // namespace fovea
