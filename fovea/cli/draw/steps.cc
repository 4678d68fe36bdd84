// Attention step by step: numbered stages with a formula, a sentence and tables of numbers.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "fovea/cli/draw/draw.h"
#include "fovea/cli/draw/text.h"
#include "fovea/cli/table.h"
#include "fovea/figure/checks.h"

namespace fovea {
namespace {

constexpr int kStageIndent = 4;
constexpr int kStageColumns = 22;  // of a stage's name, where its formula stands beside it
constexpr int kWidestPicture = 76;

class StepsDrawing {
 public:
  StepsDrawing(const Terminal& terminal, const ColorMap& colors)
      : terminal_(terminal), colors_(colors) {}

  std::string draw(const StepsFigure& figure) {
    text_ = title_lines(figure.text, terminal_);
    text_.pop_back();  // facts come at once
    for (const std::string& fact : figure.facts) {
      lines(wrapped(told_text(fact), terminal_.width), &Terminal::dim, 0);
    }
    if (figure.picture) picture(*figure.picture);
    for (size_t i = 0; i < figure.stages.size(); ++i) {
      const StepsStage& stage = figure.stages[i];
      heading(stage);
      collect(stage);
      if (i + 1 < figure.stages.size() && goes_on(figure.stages[i + 1])) continue;
      tables();
      if (stage.caption.empty()) continue;
      text_ += "\n";
      lines(wrapped(told_text(stage.caption), columns()));
    }
    if (!figure.text.caption.empty()) text_ += "\n" + caption_lines(figure.text, terminal_);
    for (const std::string& check : figure.checks) {
      text_ += "\n";
      lines(words_wrapped(told_text(check), columns()), &Terminal::dim);
    }
    return without_trailing_spaces(text_);
  }

 private:
  int columns() const { return terminal_.width - kStageIndent; }

  using Style = std::string (Terminal::*)(std::string_view) const;

  // A style goes from line to line anew, for it would colour what stands before and behind.
  void lines(const std::string& text, Style style = nullptr, int indent = kStageIndent) {
    for (const std::string& line : lines_of(text)) {
      text_ += repeated(" ", indent);
      text_ += (style == nullptr ? line : (terminal_.*style)(line)) + "\n";
    }
  }

  void picture(const ImageFigure& figure) {
    Terminal inner = terminal_;
    inner.width = std::min(columns(), kWidestPicture);
    const std::string drawn = fovea::draw(figure, inner, colors_);
    text_ += "\n";
    lines(drawn.substr(0, drawn.find_last_not_of('\n') + 1));
  }

  void heading(const StepsStage& stage) {
    if (!stage.part.empty()) {
      const std::string part = shorten(told_text(stage.part), terminal_.width - 7);
      const int rest = terminal_.width - display_width(part) - 4;
      text_ += "\n" + terminal_.dim("──") + " " + terminal_.bold(part) + " " +
               terminal_.dim(repeated("─", rest)) + "\n";
    }
    const std::string name = shorten(told_text(stage.name), columns());
    const std::string formula = told_text(stage.formula);
    const int width = std::max(kStageColumns, display_width(name) + 2);
    const bool fits = width + display_width(formula) <= columns();
    text_ += "\n" + terminal_.bold(fmt::format("{:>2}  {}", stage.number,
                                               fits ? padded_right(name, width) : name));
    text_ += (fits ? terminal_.accent(formula) : "") + "\n";
    if (!fits) lines(words_wrapped(formula, columns()), &Terminal::accent);
    if (stage.explanation.empty()) return;
    lines(words_wrapped(told_text(stage.explanation), columns()), &Terminal::dim);
  }

  // A table of one column joins the columns that wait for it.
  void collect(const StepsStage& stage) {
    if (!is_column(stage)) {
      waiting_.insert(waiting_.end(), stage.tables.begin(), stage.tables.end());
      return;
    }
    NumberTable column = stage.tables[0];
    column.col_labels = {to_lower(stage.name)};
    if (waiting_.empty()) {
      waiting_ = {std::move(column)};
      return;
    }
    NumberTable& table = waiting_[0];
    Matrix values(table.values.rows(), table.values.cols() + 1);
    for (int64_t r = 0; r < values.rows(); ++r) {
      for (int64_t c = 0; c < table.values.cols(); ++c) values(r, c) = table.values(r, c);
      values(r, table.values.cols()) = column.values(r, 0);
    }
    table.values = std::move(values);
    table.col_labels.push_back(column.col_labels[0]);
    table.formats.push_back(column.formats[0]);
    table.bars = std::move(column.bars);
    table.notes = std::move(column.notes);
  }

  static bool is_column(const StepsStage& stage) {
    return stage.tables.size() == 1 && stage.tables[0].col_labels.empty() &&
           stage.tables[0].values.cols() == 1;
  }
  bool goes_on(const StepsStage& next) const {
    return waiting_.size() == 1 && is_column(next) &&
           next.tables[0].row_labels == waiting_[0].row_labels &&
           next.tables[0].values.rows() == waiting_[0].values.rows() &&
           waiting_[0].formats.size() == waiting_[0].col_labels.size() && !waiting_[0].shade_to;
  }

  void tables() {
    if (waiting_.empty()) return;
    std::vector<TextBlock> blocks;
    for (const NumberTable& table : waiting_) {
      blocks.push_back(draw_table(table, terminal_, colors_, columns()));
    }
    text_ += "\n" + side_by_side(blocks, kStageIndent, terminal_.width);
    waiting_.clear();
  }

  static std::string to_lower(std::string text) {
    std::ranges::transform(text, text.begin(),
                           [](unsigned char letter) { return std::tolower(letter); });
    return text;
  }

  const Terminal& terminal_;
  const ColorMap& colors_;
  std::string text_;
  std::vector<NumberTable> waiting_;
};

}  // namespace

std::string draw(const StepsFigure& figure, const Terminal& terminal, const ColorMap& colors) {
  check_steps(figure);
  return StepsDrawing(terminal, colors).draw(figure);
}

}  // namespace fovea
