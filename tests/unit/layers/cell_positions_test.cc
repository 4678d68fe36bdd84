#include "fovea/layers/cell_positions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "support/compare.h"
#include "support/errors.h"
#include "support/random.h"

namespace fovea {
namespace {

using fovea::support::all_close;
using fovea::support::random_tensor;

// 1 in the first `rows` x `cols` of height x width.
Tensor corner(int64_t height, int64_t width, int64_t rows, int64_t cols) {
  Tensor mask(Shape{height, width}, DType::kI64);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t col = 0; col < cols; ++col) {
      mask.mutable_values<int64_t>()[static_cast<size_t>(row * width + col)] = 1;
    }
  }
  return mask;
}

TEST(CellGrid, ACellShowsPictureWhereItsFirstPixelDoes) {
  // Cells of 3 x 3 take pixels 0, 3, 6, ...
  const CellGrid grid = cell_grid(3, 4, corner(9, 12, 4, 9));
  EXPECT_EQ(grid.valid, (std::vector<int64_t>{1, 1, 1, 0, 1, 1, 1, 0, 0, 0, 0, 0}));
  EXPECT_TRUE(cell_grid(3, 4, corner(9, 12, 9, 12)).valid.empty());
  EXPECT_TRUE(cell_grid(3, 4, {}).valid.empty());
  EXPECT_EQ(grid.cells(), 12);
}

// The definition, cell by cell, for a picture in the top left corner of the grid.
std::vector<double> reference_sines(int64_t rows, int64_t cols, int64_t seen_rows,
                                    int64_t seen_cols, int64_t width) {
  std::vector<double> result;
  const auto sines = [&](double count, double total) {
    const double place = count / (total + 1e-6) * 2 * std::numbers::pi;
    const int64_t half = width / 2;
    for (int64_t k = 0; k < half; ++k) {
      const double exponent = 2.0 * static_cast<double>(k / 2) / static_cast<double>(half);
      const double angle = place / std::pow(10000.0, exponent);
      result.push_back(k % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
  };
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t col = 0; col < cols; ++col) {
      const bool column_seen = col < seen_cols, row_seen = row < seen_rows;
      sines(column_seen ? static_cast<double>(std::min(row + 1, seen_rows)) : 0,
            column_seen ? static_cast<double>(seen_rows) : 0);
      sines(row_seen ? static_cast<double>(std::min(col + 1, seen_cols)) : 0,
            row_seen ? static_cast<double>(seen_cols) : 0);
    }
  }
  return result;
}

TEST(CellPositions, SinesCountAlongWhatShowsPictureRowsFirst) {
  const CellGrid whole{.rows = 3, .cols = 5};
  // Angles up to 2 pi are rounded to f32 four times.
  EXPECT_TRUE(all_close(sine_cell_positions(whole, 8), reference_sines(3, 5, 3, 5, 8), 2e-6));
  const CellGrid padded = cell_grid(4, 5, corner(8, 10, 6, 5));
  EXPECT_TRUE(all_close(sine_cell_positions(padded, 12), reference_sines(4, 5, 3, 3, 12), 2e-6));
}

TEST(CellPositions, LearnedOnesAreTheColumnsThenTheRows) {
  const Tensor rows = random_tensor({4, 3}, 1), columns = random_tensor({5, 3}, 2);
  const CellGrid grid{.rows = 2, .cols = 3};
  std::vector<double> expected;
  for (int64_t cell = 0; cell < 6; ++cell) {
    for (int64_t i = 0; i < 3; ++i) expected.push_back(columns.matrix<float>().row(cell % 3)[i]);
    for (int64_t i = 0; i < 3; ++i) expected.push_back(rows.matrix<float>().row(cell / 3)[i]);
  }
  EXPECT_TRUE(all_close(learned_cell_positions(grid, rows, columns), expected, 0));
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "3 x 5 cells",
                         [&] { learned_cell_positions({.rows = 5, .cols = 3}, rows, columns); }));
}

}  // namespace
}  // namespace fovea
