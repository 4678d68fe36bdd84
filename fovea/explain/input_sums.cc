#include "fovea/explain/input_sums.h"

#include "fovea/base/error.h"

namespace fovea {

std::vector<double> position_sums(const InputGradient& input, const Tensor& each) {
  if (each.dtype() != DType::kF32 || !(each.shape() == input.values.shape())) {
    fail(ErrorKind::kInvalidArgument, "numbers of shape {} for {} of shape {}; they must agree",
         to_string(each.shape()), input.name, to_string(input.values.shape()));
  }
  const int64_t height = each.size(each.rank() - 2), width = each.size(each.rank() - 1);
  const bool grid = input.cell_height > 0;
  const int64_t cell_height = grid ? input.cell_height : 1;
  const int64_t cell_width = grid ? input.cell_width : width;
  const int64_t rows = grid ? input.grid_rows : height, cols = grid ? input.grid_cols : 1;
  std::vector<double> sums(static_cast<size_t>(rows * cols));
  const std::span<const float> values = each.values<float>();
  for (size_t i = 0; i < values.size(); ++i) {
    const int64_t row = static_cast<int64_t>(i) / width % height / cell_height;
    const int64_t col = static_cast<int64_t>(i) % width / cell_width;
    // Pixels left over at the right and the bottom belong to no patch.
    if (row < rows && col < cols) sums[static_cast<size_t>(row * cols + col)] += double{values[i]};
  }
  return sums;
}

}  // namespace fovea
