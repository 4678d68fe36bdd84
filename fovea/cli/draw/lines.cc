// What each token attends to, in words: the largest weights until they make up most of the row.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/base/utf8.h"
#include "fovea/capture/words.h"
#include "fovea/cli/draw/draw.h"
#include "fovea/cli/draw/text.h"

namespace fovea {
namespace {

constexpr int kWidestToken = 14;
constexpr int64_t kMostTokensShown = 64;  // per head; the others are counted

class LinesPainter {
 public:
  LinesPainter(const LinesFigure& figure, const Terminal& terminal)
      : figure_(figure), terminal_(terminal), column_(figure.chosen_col.has_value()) {
    const Axis& own = column_ ? figure.cols : figure.rows;
    // The rows of a generation say what they predict, which takes more room.
    own_width_ = widest_label(own, own.name == "steps" ? terminal.width * 2 / 5 : kWidestToken);
    // Names that stand alone; what is in front of a part is not known here.
    const AxisPlace& place = column_ ? figure.row_place : figure.col_place;
    const Axis& other = column_ ? figure.rows : figure.cols;
    numbers_ =
        place.first == 0 ? label_numbers(other) : std::vector<std::string>(other.positions.size());
  }

  std::string head(const MapPanel& panel) const {
    std::string text = terminal_.bold(panel.title) + "\n";
    if (figure_.chosen_row || column_) {
      const int64_t chosen = column_ ? *figure_.chosen_col : *figure_.chosen_row;
      return text + token_line(panel, chosen, true);
    }
    const int64_t rows = panel.weights.size(0);
    for (int64_t row = 0; row < std::min(rows, kMostTokensShown); ++row) {
      text += token_line(panel, row, false);
    }
    if (rows > kMostTokensShown) {
      const std::string note =
          fmt::format("… {} more rows; choose a token to see its own", rows - kMostTokensShown);
      text += terminal_.dim(wrapped(note, terminal_.width)) + "\n";
    }
    return text;
  }

 private:
  std::vector<float> weights_of(const MapPanel& panel, int64_t index) const {
    const MatrixView<const float> view = panel.weights.matrix<float>();
    if (!column_) return {view.row(index), view.row(index) + view.cols};
    std::vector<float> values;
    for (int64_t r = 0; r < view.rows; ++r) values.push_back(view(r, index));
    return values;
  }

  std::string token_line(const MapPanel& panel, int64_t index, bool chosen) const {
    const Axis& own = column_ ? figure_.cols : figure_.rows;
    const Axis& other = column_ ? figure_.rows : figure_.cols;
    const std::string label = label_of(own, index, own_width_);
    std::string text = "  " + repeated(" ", own_width_ - display_width(label)) +
                       (chosen ? terminal_.marked(label) : label) +
                       terminal_.dim(column_ ? " ← " : " → ");
    int column = 2 + own_width_ + 3;
    const std::vector<float> weights = weights_of(panel, index);
    const std::vector<size_t> kept = largest(weights);
    if (kept.empty()) return text + terminal_.dim("nothing") + "\n";
    for (size_t k = 0; k < kept.size(); ++k) {
      const std::string& number = numbers_[kept[k]];
      const std::string name =
          label_of(other, static_cast<int64_t>(kept[k]), kWidestToken - display_width(number)) +
          number;
      const std::string weight = short_weight(double{weights[kept[k]]});
      const int width = (k > 0 ? 2 : 0) + display_width(name) + 1 + display_width(weight);
      // Room for the mark that there are more, unless this is the last.
      if (column + width + (k + 1 < kept.size() ? 3 : 0) > terminal_.width) {
        return text + terminal_.dim("  …") + "\n";
      }
      text += (k > 0 ? "  " : "") + name + " " + terminal_.accent(weight);
      column += width;
    }
    return text + "\n";
  }

  // The fewest that make up the mass, largest first.
  std::vector<size_t> largest(const std::vector<float>& weights) const {
    std::vector<size_t> order;
    double total = 0;
    for (size_t i = 0; i < weights.size(); ++i) {
      if (std::isnan(weights[i]) || weights[i] <= 0) continue;
      order.push_back(i);
      total += double{weights[i]};
    }
    std::ranges::stable_sort(order, [&](size_t a, size_t b) { return weights[a] > weights[b]; });
    double mass = 0;
    size_t count = 0;
    while (count < order.size() && mass < figure_.mass * total) {
      mass += double{weights[order[count++]]};
    }
    order.resize(count);
    return order;
  }

  const LinesFigure& figure_;
  const Terminal& terminal_;
  bool column_;
  int own_width_ = 1;
  std::vector<std::string> numbers_;  // of the names of the other side
};

}  // namespace

std::string draw(const LinesFigure& figure, const Terminal& terminal, const ColorMap&) {
  std::string text = title_lines(figure.text, terminal);
  const LinesPainter painter(figure, terminal);
  for (const MapPanel& panel : figure.heads) text += painter.head(panel) + "\n";
  const std::string note =
      fmt::format("the largest {} of each {}, until they make up {:.0f} % of it",
                  figure.value_name == "attention weight" ? "weights" : figure.value_name,
                  figure.chosen_col ? "column" : "row", 100 * figure.mass);
  return text + terminal.dim(wrapped(note, terminal.width)) + "\n" +
         caption_lines(figure.text, terminal);
}

}  // namespace fovea
