#include "fovea/explain/pictures/convolution_heads.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/kernels/attention.h"
#include "fovea/kernels/conv.h"
#include "fovea/kernels/matmul.h"

namespace fovea {
namespace {

// Places count from the middle of the picture: small numbers lose fewer digits.
struct Place {
  double row;
  double col;
};
Place place_of(GridShape grid, int64_t pixel) {
  return {static_cast<double>(grid.row_of(pixel)) - static_cast<double>(grid.rows / 2),
          static_cast<double>(grid.col_of(pixel)) - static_cast<double>(grid.cols / 2)};
}

Tensor keys_of(GridShape grid) {
  Tensor keys = Tensor::uninitialized({1, grid.patches(), 3});
  for (int64_t j = 0; j < grid.patches(); ++j) {
    const Place place = place_of(grid, j);
    float* key = keys.mutable_matrix<float>().row(j);
    key[0] = static_cast<float>(place.row);
    key[1] = static_cast<float>(place.col);
    key[2] = static_cast<float>(place.row * place.row + place.col * place.col);
  }
  return keys;
}

Tensor queries_of(GridShape grid, int64_t side, double sharpness) {
  Tensor queries = Tensor::uninitialized({side * side, grid.patches(), 3});
  for (int64_t head = 0; head < side * side; ++head) {
    const auto down = static_cast<double>(head / side - side / 2);
    const auto right = static_cast<double>(head % side - side / 2);
    for (int64_t i = 0; i < grid.patches(); ++i) {
      const Place place = place_of(grid, i);
      float* query = queries.mutable_matrix<float>(head).row(i);
      query[0] = static_cast<float>(sharpness * 2 * (place.row + down));
      query[1] = static_cast<float>(sharpness * 2 * (place.col + right));
      query[2] = static_cast<float>(-sharpness);
    }
  }
  return queries;
}

// [channels, rows, cols] -> [1, pixels, channels]
Tensor values_of(const Tensor& pixels, GridShape grid) {
  const int64_t channels = pixels.size(0);
  Tensor values = Tensor::uninitialized({1, grid.patches(), channels});
  const auto from = pixels.values<float>();
  for (int64_t i = 0; i < grid.patches(); ++i) {
    for (int64_t c = 0; c < channels; ++c) {
      values.mutable_matrix<float>()(i, c) = from[static_cast<size_t>(c * grid.patches() + i)];
    }
  }
  return values;
}

}  // namespace

AttentionRecord convolution_record(const Tensor& pixels, int64_t side, double sharpness) {
  if (pixels.rank() != 3 || pixels.dtype() != DType::kF32 || pixels.empty() || side < 1 ||
      side % 2 == 0 || side > 15 || !(sharpness > 0 && sharpness < 1e6)) {
    fail(ErrorKind::kInvalidArgument,
         "heads cannot be a {} x {} convolution of {} with sharpness {}; give F32 [channels, rows, "
         "cols], an odd side up to 15 and a sharpness above 0",
         side, side, to_string(pixels.shape()), sharpness);
  }
  const GridShape grid{pixels.size(1), pixels.size(2)};
  const int64_t heads = side * side;
  AttentionRecord record;
  record.row_axis = record.col_axis = "pixels";
  record.queries = queries_of(grid, side, sharpness);
  record.keys = keys_of(grid);
  record.values = values_of(pixels, grid);
  record.lse = Tensor(Shape{heads, grid.patches()}, DType::kF64);
  record.output = Tensor(Shape{heads, grid.patches(), pixels.size(0)});
  const AttentionInputs inputs = inputs_of(record);
  validate(inputs);
  attention(inputs, MutableHeadsView::of(record.output), record.lse.mutable_values<double>());
  return record;
}

Tensor mix_heads(const AttentionRecord& record, GridShape grid, const Tensor& kernel) {
  const AttentionShape shape = record.shape();
  if (kernel.rank() != 4 || kernel.dtype() != DType::kF32 || kernel.size(1) != shape.value_dim ||
      kernel.size(2) * kernel.size(3) != shape.heads || record.output.empty() ||
      shape.rows != grid.patches()) {
    fail(ErrorKind::kInvalidArgument,
         "a kernel {} cannot mix {} heads of {} channels over a grid of {} x {}",
         to_string(kernel.shape()), shape.heads, shape.value_dim, grid.rows, grid.cols);
  }
  const int64_t channels = shape.value_dim;
  Tensor mixed({kernel.size(0), grid.rows, grid.cols});
  MatrixView<float> out(mixed.mutable_values<float>().data(), kernel.size(0), grid.patches());
  Tensor slice = Tensor::uninitialized({kernel.size(0), channels});
  for (int64_t head = 0; head < shape.heads; ++head) {
    for (int64_t o = 0; o < kernel.size(0); ++o) {
      for (int64_t c = 0; c < channels; ++c) {
        slice.mutable_matrix<float>()(o, c) =
            kernel.values<float>()[static_cast<size_t>((o * channels + c) * shape.heads + head)];
      }
    }
    matmul(slice.matrix<float>(), record.output.matrix<float>(head), out,
           {.transpose_b = true, .beta = 1});
  }
  return mixed;
}

Tensor edge_kernel(int64_t channels) {
  std::vector<float> weights;
  for (int64_t c = 0; c < channels; ++c) {
    for (int i = 0; i < 9; ++i) weights.push_back(i == 4 ? 8.0F : -1.0F);
  }
  return Tensor::from<float>({1, channels, 3, 3}, weights);
}

double convolution_difference(const AttentionRecord& record, const Tensor& pixels,
                              const Tensor& kernel) {
  const GridShape grid{pixels.size(1), pixels.size(2)};
  const Tensor attended = mix_heads(record, grid, kernel);
  const Tensor convolved = PackedConv(kernel, {}, {.padding = {1, 1}})
                               .apply(pixels.reshaped({1, pixels.size(0), grid.rows, grid.cols}));
  double largest = 0;
  for (int64_t row = 1; row + 1 < grid.rows; ++row) {
    for (int64_t col = 1; col + 1 < grid.cols; ++col) {
      const auto at = static_cast<size_t>(row * grid.cols + col);
      largest = std::max(largest, std::abs(double{attended.values<float>()[at]} -
                                           double{convolved.values<float>()[at]}));
    }
  }
  return largest;
}

}  // namespace fovea
