#include "fovea/cli/draw/overview.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "fovea/base/utf8.h"
#include "fovea/cli/draw/cells.h"
#include "fovea/cli/draw/text.h"
#include "fovea/figure/color_axis.h"

namespace fovea {
namespace {

constexpr int kOverviewNames = 20;
constexpr int kStripCells = 2;
constexpr int64_t kLeastAcross = 20;
constexpr std::string_view kRamp = " .:-=+*#%@";  // where there are no colours

// Bins put together: what counts from even attention by the weights and even shares of all, so that
// it is what bins of that size would hold.
CellSheet coarse_cells(const MatrixFigure& figure, int64_t row_block, int64_t col_block) {
  const MapOverview& overview = *figure.overview;
  if (overview.even.empty() || !figure.scale.times_even) {
    return overview_cells(figure.scale, figure.weights, row_block, col_block);
  }
  CellSheet grid = pool_cells(figure.weights, row_block, col_block);
  const MatrixView<const float> values = figure.weights.matrix<float>();
  const MatrixView<const float> even = overview.even.matrix<float>();
  std::vector<double> shares(grid.weights.size()), evens(grid.weights.size());
  for (int64_t r = 0; r < values.rows; ++r) {
    const double rows = r + 1 == values.rows ? overview.last_row : 1;
    for (int64_t c = 0; c < values.cols; ++c) {
      if (std::isnan(values(r, c))) continue;
      const auto cell = static_cast<size_t>(r / row_block * grid.cols + c / col_block);
      evens[cell] += rows * double{even(r, c)};
      shares[cell] += rows * double{even(r, c)} * double{values(r, c)};
    }
  }
  for (size_t i = 0; i < evens.size(); ++i) {
    if (evens[i] > 0) grid.weights[i] = static_cast<float>(shares[i] / evens[i]);
  }
  return grid;
}

class OverviewPainter {
 public:
  OverviewPainter(const MatrixFigure& figure, const Terminal& terminal, const ColorMap& colors)
      : figure_(figure),
        overview_(*figure.overview),
        terminal_(terminal),
        cells_(terminal, colors, figure.scale) {
    const int64_t rows = figure.weights.size(0), cols = figure.weights.size(1);
    const int64_t across = std::max<int64_t>(terminal.width - margin(), kLeastAcross);
    col_block_ = (cols + across - 1) / across;
    // A line is twice as tall as a column is wide: two cells share it, or one covers twice the
    // rows.
    row_block_ = rows == cols || rows > across ? (rows + across - 1) / across : 1;
    if (rows == cols) row_block_ = col_block_;
    if (!terminal.has_color()) row_block_ *= 2;
    grid_ = coarse_cells(figure, row_block_, col_block_);
  }

  std::string draw() const {
    std::string text = heading();
    const int64_t step = terminal_.has_color() ? 2 : 1;
    for (int64_t r = 0, last_name = -2 * step; r < grid_.rows; r += step) {
      text += name_at(r, step, last_name) + strips(r, step) + line(r, step) + "\n";
    }
    return text + "\n" + (terminal_.has_color() ? cells_.legend(false) : ramp_legend()) +
           path_key() + notes();
  }

 private:
  int names_width() const { return terminal_.width >= 60 ? kOverviewNames : 10; }
  int strips_width() const { return static_cast<int>(overview_.apart.size()) * kStripCells; }
  int margin() const { return names_width() + 1 + (strips_width() > 0 ? strips_width() + 1 : 0); }

  // Numbers of columns, and over the strips what they are.
  std::string heading() const {
    constexpr int64_t kEvery = 10;
    std::string text = repeated(" ", margin());
    if (strips_width() > 0) {
      const std::string name = "grey ▾";
      text = padded_left(name, names_width() + 1 + strips_width()) + " ";
    }
    if (overview_.path) text += section_letters();
    for (int64_t c = 0; c < grid_.cols && !overview_.path; c += kEvery) {
      const std::string number = std::to_string(figure_.col_place.of(c * col_block_));
      if (c > 0 && c + static_cast<int64_t>(number.size()) > grid_.cols) break;
      text += padded_right(number, kEvery);
    }
    return terminal_.dim(text.substr(0, text.find_last_not_of(' ') + 1)) + "\n";
  }

  // Of a path: each letter where its section begins.
  std::string section_letters() const {
    std::string letters(static_cast<size_t>(grid_.cols), ' ');
    for (const PlacedName& name : overview_.row_names) {
      const auto place = static_cast<size_t>(name.place) / static_cast<size_t>(col_block_);
      if (place < letters.size()) letters[place] = name.text.front();
    }
    return letters;
  }

  // Where the sections lie in the picture: what stands at so many places of it.
  std::string path_key() const {
    if (!overview_.path) return "";
    constexpr int64_t kDown = 4, kAcross = 8;
    const PathKey& key = *overview_.path;
    std::string text = terminal_.dim("where A to P lie in the picture:") + "\n";
    for (int64_t y = 0; y < kDown; ++y) {
      text += "  ";
      for (int64_t x = 0; x < kAcross; ++x) {
        const int64_t row = (2 * y + 1) * key.rows / (2 * kDown);
        const int64_t col = (2 * x + 1) * key.cols / (2 * kAcross);
        text += PathKey::letter(key.section[static_cast<size_t>(row * key.cols + col)]);
      }
      text += "\n";
    }
    return text;
  }

  // The paragraph that begins in a line, unless one is named just above it; or the chosen row.
  std::string name_at(int64_t row, int64_t step, int64_t& last_name) const {
    const auto here = [&](double place) {
      const auto cell = static_cast<int64_t>(place) / row_block_;
      return cell >= row && cell < row + step;
    };
    if (figure_.chosen_row && here(static_cast<double>(*figure_.chosen_row))) {
      last_name = row;
      const std::string label = label_of(figure_.rows, *figure_.chosen_row, names_width() - 2);
      return terminal_.marked(padded_left("▸ " + label, names_width())) + " ";
    }
    const auto found = std::ranges::find_if(
        overview_.row_names, [&](const PlacedName& name) { return here(name.place); });
    std::string name;
    if (found != overview_.row_names.end()) {
      name = found->text;
    } else if (overview_.row_names.size() < 2 && row % (4 * step) == 0) {
      name = std::to_string(figure_.row_place.of(row * row_block_));
    }
    if (name.empty() || row - last_name < 2 * step) return repeated(" ", names_width() + 1);
    last_name = row;
    return terminal_.dim(padded_left(shorten(printable(name), names_width()), names_width())) + " ";
  }

  double strip_weight(const ColumnApart& apart, int64_t row) const {
    double sum = 0, count = 0;
    const auto end = std::min<int64_t>((row + 1) * row_block_, std::ssize(apart.weights));
    for (int64_t r = row * row_block_; r < end; ++r, ++count)
      sum += double{apart.weights[size_t(r)]};
    return count > 0 ? sum / count : 0;
  }

  // More is lighter, as the colours beside it.
  std::string strips(int64_t row, int64_t step) const {
    std::string text;
    for (const ColumnApart& apart : overview_.apart) {
      const double top = strip_weight(apart, row);
      if (step == 1) {
        text += repeated(ramp(top), kStripCells);
        continue;
      }
      const Rgb above = grey_colors().at(1 - top);
      text +=
          row + 1 < grid_.rows
              ? terminal_.painted(above, grey_colors().at(1 - strip_weight(apart, row + 1)), "▀▀")
              : terminal_.ink(above, "▀▀");
    }
    return text.empty() ? text : text + " ";
  }

  static std::string_view ramp(double place) {
    const auto last = static_cast<double>(kRamp.size() - 1);
    const auto sign = static_cast<size_t>(std::lround(std::clamp(place, 0.0, 1.0) * last));
    return kRamp.substr(sign, 1);
  }

  std::string ramp_legend() const {
    const ColorScale& scale = figure_.scale;
    const std::string legend = fmt::format(
        "{}{} [{}] {}{}{}", scale.below ? "◂ " : "", scale_text(scale, value_at(scale, 0)), kRamp,
        scale_text(scale, value_at(scale, 1)), scale.above ? " ▸" : "",
        scale.times_even ? " times even" : "");
    return wrapped(legend, terminal_.width) + "\n";
  }

  // What is not allowed is the terminal's ground.
  std::string line(int64_t row, int64_t step) const {
    std::string text;
    for (int64_t c = 0; c < grid_.cols; ++c) {
      const float top = grid_.at(row, c);
      const float bottom = step == 2 && row + 1 < grid_.rows
                               ? grid_.at(row + 1, c)
                               : std::numeric_limits<float>::quiet_NaN();
      if (step == 1) {
        text += std::isnan(top) ? " " : ramp(place_on(figure_.scale, double{top}));
      } else {
        text += std::isnan(top) && std::isnan(bottom) ? " " : cells_.stacked(top, bottom);
      }
    }
    return text;
  }

  std::string notes() const {
    const int64_t rows = row_block_ * figure_.row_place.step;
    const int64_t cols = col_block_ * figure_.col_place.step;
    std::string note = figure_.scale.times_even
                           ? fmt::format("a cell is {} × {} positions", rows, cols)
                           : overview_note(figure_.scale, row_block_, col_block_,
                                           figure_.row_place.step, figure_.col_place.step);
    for (const ColumnApart& apart : overview_.apart) {
      note += fmt::format(" · left, in grey: {} takes {:.0f} % of all weight",
                          printable(apart.name), 100 * apart.share);
    }
    return terminal_.dim(wrapped(note, terminal_.width)) + "\n";
  }

  const MatrixFigure& figure_;
  const MapOverview& overview_;
  const Terminal& terminal_;
  CellPainter cells_;
  int64_t row_block_ = 1, col_block_ = 1;
  CellSheet grid_;
};

}  // namespace

std::string draw_overview(const MatrixFigure& figure, const Terminal& terminal,
                          const ColorMap& colors) {
  return without_trailing_spaces(title_lines(figure.text, terminal) +
                                 OverviewPainter(figure, terminal, colors).draw() +
                                 caption_lines(figure.text, terminal));
}

}  // namespace fovea
