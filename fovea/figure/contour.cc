#include "fovea/figure/contour.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "fovea/explain/pictures/grid_mask.h"

namespace fovea {
namespace {

constexpr std::ptrdiff_t kLeastCells = 8;  // fewer are seen without a line
constexpr int64_t kMostAreas = 3;
constexpr double kMostOfPicture = 0.25;

std::vector<bool> finite_cells(MatrixView<const float> weights) {
  std::vector<bool> cells;
  for (int64_t r = 0; r < weights.rows; ++r) {
    for (int64_t c = 0; c < weights.cols; ++c) cells.push_back(!std::isnan(weights(r, c)));
  }
  return cells;
}

}  // namespace

std::string mass_note(MatrixView<const float> weights) {
  const auto count = [&](double share) {
    return std::ranges::count(cells_with_mass(weights, share), true);
  };
  const auto half = count(0.5);
  if (half == 0) return "";
  return fmt::format("half in {}, 90 % in {} of {}", half, count(0.9), weights.rows * weights.cols);
}

bool is_area(const std::vector<bool>& cells, int64_t rows, int64_t cols) {
  const auto count = std::ranges::count(cells, true);
  return count >= kLeastCells &&
         static_cast<double>(count) <= kMostOfPicture * static_cast<double>(rows * cols) &&
         has_few_parts(cells, rows, cols);
}

bool has_few_parts(const std::vector<bool>& cells, int64_t rows, int64_t cols) {
  GridMask left({rows, cols});
  std::ranges::copy(cells, left.cells.begin());
  for (int64_t parts = 0, cell = 0; cell < rows * cols; ++cell) {
    if (!left.holds(cell)) continue;
    if (++parts > kMostAreas) return false;
    const GridMask part = component_of(left, cell);
    for (size_t i = 0; i < part.cells.size(); ++i) {
      if (part.cells[i] != 0) left.cells[i] = 0;
    }
  }
  return true;
}

std::vector<std::vector<Point>> contour_of(const ImageFigure& figure, const ImagePanel& panel) {
  if (figure.contour_mass == 0 || panel.weights.empty()) return {};
  const auto weights = panel.weights.matrix<float>();
  if (figure.contour_mass == 1) return edges_of(finite_cells(weights), weights.rows, weights.cols);
  const std::vector<bool> cells = cells_with_mass(weights, figure.contour_mass);
  if (!is_area(cells, weights.rows, weights.cols)) return {};
  return edges_of(cells, weights.rows, weights.cols);
}

std::vector<bool> cells_with_mass(MatrixView<const float> weights, double share) {
  const auto count = static_cast<size_t>(weights.rows * weights.cols);
  const auto at = [&](size_t i) {
    const auto index = static_cast<int64_t>(i);
    return weights(index / weights.cols, index % weights.cols);
  };
  std::vector<size_t> order;
  double sum = 0;
  for (size_t i = 0; i < count; ++i) {
    if (!(at(i) > 0)) continue;
    order.push_back(i);
    sum += at(i);
  }
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return at(a) > at(b); });
  std::vector<bool> inside(count, false);
  double so_far = 0;
  for (const size_t i : order) {
    if (so_far >= share * sum * (1 - 1e-6)) break;  // less than what rounding adds
    inside[i] = true;
    so_far += at(i);
  }
  return inside;
}

std::vector<std::vector<Point>> edges_of(const std::vector<bool>& cells, int64_t rows,
                                         int64_t cols) {
  const auto inside = [&](int64_t row, int64_t col) {
    return row >= 0 && row < rows && col >= 0 && col < cols &&
           cells[static_cast<size_t>(row * cols + col)];
  };
  std::vector<std::vector<Point>> lines;
  // An edge goes on as long as the same side of it is inside.
  for (int64_t row = 0; row <= rows; ++row) {
    for (int64_t col = 0; col < cols; ++col) {
      if (inside(row - 1, col) == inside(row, col)) continue;
      const int64_t first = col;
      while (col + 1 < cols && inside(row - 1, col + 1) != inside(row, col + 1)) ++col;
      lines.push_back({{static_cast<double>(first), static_cast<double>(row)},
                       {static_cast<double>(col + 1), static_cast<double>(row)}});
    }
  }
  for (int64_t col = 0; col <= cols; ++col) {
    for (int64_t row = 0; row < rows; ++row) {
      if (inside(row, col - 1) == inside(row, col)) continue;
      const int64_t first = row;
      while (row + 1 < rows && inside(row + 1, col - 1) != inside(row + 1, col)) ++row;
      lines.push_back({{static_cast<double>(col), static_cast<double>(first)},
                       {static_cast<double>(col), static_cast<double>(row + 1)}});
    }
  }
  return lines;
}

std::vector<std::vector<Point>> mass_contour(MatrixView<const float> weights, double share) {
  return edges_of(cells_with_mass(weights, share), weights.rows, weights.cols);
}

}  // namespace fovea
