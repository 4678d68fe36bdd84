#include "fovea/explain/faithfulness/input_strength.h"

#include <cmath>

#include "fovea/base/error.h"

namespace fovea {
namespace {

double square(float value, float gradient) {
  const double product = double{value} * double{gradient};
  return product * product;
}

std::vector<double> of_tokens(const InputGradient& input) {
  const MatrixView<const float> values = input.values.matrix<float>();
  const MatrixView<const float> gradient = input.gradient.matrix<float>();
  std::vector<double> squares(static_cast<size_t>(values.rows));
  for (int64_t row = 0; row < values.rows; ++row) {
    for (int64_t col = 0; col < values.cols; ++col) {
      squares[static_cast<size_t>(row)] += square(values(row, col), gradient(row, col));
    }
  }
  return squares;
}

// Cells of a picture or of sound; what lies behind the last cell belongs to nobody.
std::vector<double> of_cells(const InputGradient& input) {
  std::vector<double> squares(static_cast<size_t>(input.grid_rows * input.grid_cols));
  const Shape& shape = input.values.shape();
  const int64_t height = shape[shape.rank() - 2], width = shape[shape.rank() - 1];
  const auto values = input.values.values<float>(), gradient = input.gradient.values<float>();
  for (int64_t i = 0; i < input.values.elements(); ++i) {
    const int64_t row = i / width % height / input.cell_height, col = i % width / input.cell_width;
    if (row >= input.grid_rows || col >= input.grid_cols) continue;
    const auto at = static_cast<size_t>(i);
    squares[static_cast<size_t>(row * input.grid_cols + col)] += square(values[at], gradient[at]);
  }
  return squares;
}

}  // namespace

std::vector<double> input_strength(const InputGradient& input, const Axis& axis) {
  std::vector<double> squares = input.grid_rows > 0 ? of_cells(input) : of_tokens(input);
  if (squares.size() > axis.positions.size()) {
    fail(ErrorKind::kInvalidArgument, "the gradient of {} has {} positions but its axis has {}",
         input.name, squares.size(), axis.positions.size());
  }
  // Tokens in front of the patches read no pixels.
  std::vector<double> strength(axis.positions.size() - squares.size());
  for (const double sum : squares) strength.push_back(std::sqrt(sum));
  return strength;
}

}  // namespace fovea
