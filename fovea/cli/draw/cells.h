// Weights as cells of the terminal: coloured, or shaded with ░▒▓█ where there are no colours.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/cli/terminal.h"
#include "fovea/figure/checks.h"

namespace fovea {

// A matrix as large as it is drawn: each cell the largest of row_block x col_block weights, NaN
// where all of them are.
struct CellSheet {
  int64_t rows = 0;
  int64_t cols = 0;
  int64_t row_block = 1;
  int64_t col_block = 1;
  std::vector<float> weights;

  float at(int64_t row, int64_t col) const {
    return weights[static_cast<size_t>(row * cols + col)];
  }
};
CellSheet pool_cells(const Tensor& weights, int64_t row_block, int64_t col_block);
// The same with the mean of those that are not NaN.
CellSheet mean_cells(const Tensor& weights, int64_t row_block, int64_t col_block);
// Whichever suits the values: the mean of what counts from even attention.
CellSheet overview_cells(const ColorScale& scale, const Tensor& weights, int64_t row_block,
                         int64_t col_block);
// "each cell is the largest of 2 x 4 weights". If the cells of the map are bins of `step`
// positions, "each cell is the mean of 2 x 4 bins".
std::string overview_note(const ColorScale& scale, int64_t row_block, int64_t col_block,
                          int64_t row_step = 1, int64_t col_step = 1);

class CellPainter {
 public:
  CellPainter(const Terminal& terminal, const ColorMap& colors, ColorScale scale)
      : terminal_(terminal), colors_(colors), scale_(scale) {}

  // `text` on the weight's colour; without colours as it is. Forbidden cells are dim.
  std::string on(float weight, std::string_view text) const;
  // `width` columns of colour or shade; dots where it is forbidden.
  std::string block(float weight, int width) const;
  // Two cells above each other in one column; colours only.
  std::string stacked(float top, float bottom) const;

  // A line of cells, and two grid rows of them if `stacked`. Columns in `grey` (rising) are not on
  // this scale.
  std::string line(const CellSheet& grid, int64_t row, int cell_width, bool stacked,
                   std::span<const int64_t> grey = {}) const;

  // Of columns that are grey, from 0 to 1, and what says so.
  static CellPainter grey_cells(const Terminal& terminal);
  static std::string grey_legend(const Terminal& terminal, std::string_view name);

  // Which colour or shade is which weight. `clipped`: some weights lie above the scale.
  std::string legend(bool forbidden, bool clipped = false) const;

 private:
  double share(float weight) const;
  std::string curved_legend() const;
  Rgb color(float weight) const { return colors_.at(share(weight)); }
  std::string_view shade(float weight) const;

  const Terminal& terminal_;
  const ColorMap& colors_;
  ColorScale scale_;
};

}  // namespace fovea
