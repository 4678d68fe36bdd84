// A table of labels, numbers and words, in as many blocks as its columns need.
#include <algorithm>

#include "fovea/base/utf8.h"
#include "fovea/cli/draw/draw.h"
#include "fovea/cli/draw/text.h"
#include "fovea/cli/table.h"
#include "fovea/figure/checks.h"

namespace fovea {
namespace {

constexpr int kColumnSpace = 2;
constexpr int kLeastWords = 16, kLeastShare = 8, kMostShare = 20;

std::vector<std::string> broken_lines(std::string_view text, int width) {
  return lines_of(wrapped(printable(text), width));
}

// What a column takes: its text, the mark behind it and the bar.
struct ColumnSpan {
  int text = 0, mark = 0, share = 0;

  int bar() const { return share > 0 ? kColumnSpace + share : 0; }
  int width() const { return text + mark + bar(); }
};

class TableDrawing {
 public:
  TableDrawing(const TableFigure& figure, const Terminal& terminal, const ColorMap& colors)
      : figure_(figure), terminal_(terminal), bar_color_(colors.at(0.6)) {
    const bool grouped =
        std::ranges::any_of(figure.rows, [](const TableRow& row) { return !row.group.empty(); });
    indent_ = grouped ? 2 : 0;
    int labels = display_width(figure.label_name), columns = 0;
    for (const TableRow& row : figure.rows) {
      labels = std::max(labels, indent_ + display_width(printable(row.label)));
    }
    for (size_t c = 0; c < figure.columns.size(); ++c) {
      natural_.push_back(natural_span(c));
      columns += kColumnSpace + least_span(c).width();
    }
    tight_ = labels + columns > terminal.width;
    label_width_ = std::min(labels, std::max(terminal.width * 3 / 10, terminal.width - columns));
  }

  std::string blocks() {
    std::string text;
    if (figure_.columns.empty()) return block(0, 0);
    for (size_t begin = 0; begin < figure_.columns.size();) {
      const size_t end = fit_block(begin);
      if (begin > 0) text += "\n";
      text += block(begin, end);
      begin = end;
    }
    return text;
  }

 private:
  static const TableCell& cell_of(const TableRow& row, size_t c) {
    static const TableCell none;
    return c < row.cells.size() ? row.cells[c] : none;
  }

  ColumnSpan natural_span(size_t c) const {
    const TableColumn& column = figure_.columns[c];
    ColumnSpan span;
    for (const TableRow& row : figure_.rows) {
      const TableCell& cell = cell_of(row, c);
      span.text =
          std::max({span.text, display_width(printable(cell.text)), display_width(cell.range)});
      span.mark = std::max(span.mark, display_width(cell.mark));
      if (cell.share) span.share = kMostShare;
    }
    const int heading = std::max(display_width(column.name), display_width(column.detail));
    const int beyond =
        span.share > 0 ? kColumnSpace + kLeastShare : 0;  // it may reach over the bar
    span.text = std::max(span.text, heading - beyond);
    return span;
  }

  // What it can be made to fit into.
  ColumnSpan least_span(size_t c) const {
    ColumnSpan span = natural_[c];
    if (figure_.columns[c].words) span.text = std::min(span.text, kLeastWords);
    if (span.share > 0) span.share = kLeastShare;
    return span;
  }

  // Between the labels or the column before and this one. Where room is scarce a mark stands in
  // that space.
  int space_before(size_t c, size_t begin) const {
    return tight_ && c > begin && spans_[c - 1].mark > 0 ? 1 : kColumnSpace;
  }

  // Chooses the columns from `begin` that stand side by side and gives them what room there is.
  size_t fit_block(size_t begin) {
    const int room = std::max(1, terminal_.width - label_width_);
    spans_ = natural_;
    size_t end = begin;
    int used = 0;
    while (end < natural_.size()) {
      spans_[end] = least_span(end);
      const int more = space_before(end, begin) + spans_[end].width();
      if (end > begin && used + more > room) break;
      used += more;
      ++end;
    }
    ColumnSpan& first = spans_[begin];
    if (kColumnSpace + first.width() > room) first.share = 0;  // rather a number than its bar
    first.text = std::min(first.text, std::max(1, room - kColumnSpace - first.mark));
    for (size_t c = begin; c < end; ++c) {
      const int words = std::clamp(room - used, 0, natural_[c].text - spans_[c].text);
      spans_[c].text += words;
      used += words;
      const int share = std::clamp(room - used, 0, natural_[c].share - spans_[c].share);
      spans_[c].share += share;
      used += share;
    }
    return end;
  }

  std::string styled(TableTone tone, const std::string& text) const {
    if (text.empty() || tone == TableTone::kPlain) return text;
    return tone == TableTone::kStrong ? terminal_.bold(text) : terminal_.dim(text);
  }

  // `text` where the column has it, styled without the spaces around.
  std::string placed(size_t c, std::string_view text, std::string_view mark, TableTone tone) const {
    const ColumnSpan& span = spans_[c];
    const std::string shown = shorten(text, span.text);
    const std::string space = repeated(" ", span.text - display_width(shown));
    const std::string rest = repeated(" ", span.mark - display_width(mark));
    return figure_.columns[c].words
               ? styled(tone, isolated(shown)) + space + std::string(mark) + rest
               : space + styled(tone, shown + std::string(mark)) + rest;
  }

  std::string heading_line(size_t begin, size_t end, bool details) const {
    std::string line = details ? "" : shorten(figure_.label_name, label_width_);
    line += repeated(" ", label_width_ - display_width(line));
    for (size_t c = begin; c < end; ++c) {
      const TableColumn& column = figure_.columns[c];
      const std::string& text = details ? column.detail : column.name;
      line += repeated(" ", space_before(c, begin));
      line += spans_[c].share > 0
                  ? padded_right(text, spans_[c].width())  // begins where numbers do
                  : placed(c, text, "", TableTone::kPlain);
    }
    const std::string trimmed = without_trailing_spaces(line);
    return trimmed.empty() ? "" : (details ? terminal_.dim(trimmed) : terminal_.bold(trimmed));
  }

  std::string row_lines(const TableRow& row, size_t begin, size_t end) const {
    std::vector<std::vector<std::string>> words(figure_.columns.size());
    size_t lines = 1;
    for (size_t c = begin; c < end; ++c) {
      const TableCell& cell = cell_of(row, c);
      if (figure_.columns[c].words) words[c] = broken_lines(cell.text, spans_[c].text);
      lines = std::max({lines, words[c].size(), size_t{cell.range.empty() ? 1U : 2U}});
    }
    const std::string label = shorten(printable(row.label), label_width_ - indent_);
    std::string text;
    for (size_t i = 0; i < lines; ++i) {
      text += i == 0 ? repeated(" ", indent_) +
                           (row.marked ? terminal_.marked(label) : isolated(label)) +
                           repeated(" ", label_width_ - indent_ - display_width(label))
                     : repeated(" ", label_width_);
      for (size_t c = begin; c < end; ++c) {
        text += repeated(" ", space_before(c, begin));
        text += figure_.columns[c].words
                    ? placed(c, i < words[c].size() ? words[c][i] : "", "", cell_of(row, c).tone)
                    : number_line(c, cell_of(row, c), i);
      }
      text += "\n";
    }
    return text;
  }

  std::string number_line(size_t c, const TableCell& cell, size_t line) const {
    if (line > 0)
      return placed(c, line == 1 ? cell.range : "", "", TableTone::kMuted) + blank_bar(c);
    std::string text = placed(c, printable(cell.text), cell.mark, cell.tone);
    if (!cell.share || spans_[c].share == 0) return text + blank_bar(c);
    const std::string drawn = bar(*cell.share, spans_[c].share);
    return text + repeated(" ", kColumnSpace) +
           (drawn.empty()           ? ""
            : terminal_.has_color() ? terminal_.ink(bar_color_, drawn)
                                    : drawn) +
           repeated(" ", spans_[c].share - display_width(drawn));
  }
  std::string blank_bar(size_t c) const { return repeated(" ", spans_[c].bar()); }

  std::string block(size_t begin, size_t end) const {
    std::string text;
    for (const bool details : {false, true}) {
      const std::string line = heading_line(begin, end, details);
      if (!line.empty()) text += line + "\n";
    }
    int width = label_width_;
    for (size_t c = begin; c < end; ++c) {
      width += space_before(c, begin) + spans_[c].width();
    }
    for (const TableRow& row : figure_.rows) {
      if (row.total) text += terminal_.dim(repeated("─", width)) + "\n";
      if (!row.group.empty()) text += shorten(printable(row.group), terminal_.width) + "\n";
      text += row_lines(row, begin, end);
    }
    return text;
  }

  const TableFigure& figure_;
  const Terminal& terminal_;
  Rgb bar_color_;
  int indent_ = 0, label_width_ = 0;
  bool tight_ = false;
  std::vector<ColumnSpan> natural_, spans_;
};

}  // namespace

std::string draw(const TableFigure& figure, const Terminal& terminal, const ColorMap& colors) {
  check_table(figure);
  std::string text = figure.text.title.empty() ? "" : title_lines(figure.text, terminal);
  const std::string body = TableDrawing(figure, terminal, colors).blocks();
  text += body;
  std::vector<std::string> below = figure.notes;
  if (!figure.text.caption.empty()) below.insert(below.begin(), figure.text.caption);
  if (!below.empty() && !body.empty()) text += "\n";
  for (const std::string& note : below) {
    for (const std::string& line : broken_lines(note, terminal.width)) {
      text += terminal.dim(line) + "\n";
    }
  }
  return without_trailing_spaces(text);
}

}  // namespace fovea
