#include "fovea/kernels/interpolate.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "fovea/kernels/parallel_rows.h"

namespace fovea {
namespace {

// Keys' cubic convolution (1981).
double cubic(double x, double a) {
  x = std::abs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return (((x - 5) * x + 8) * x - 4) * a;
  return 0;
}

// Which old cells a new one is made of.
struct Taps {
  std::vector<int64_t> cells;
  std::vector<float> weights;
};

// Cells beyond an edge are those at the edge.
Taps plain_taps(int64_t size, int64_t out_size, int64_t at) {
  const double scale = static_cast<double>(size) / static_cast<double>(out_size);
  const double place = scale * (static_cast<double>(at) + 0.5) - 0.5;
  const double first = std::floor(place);
  Taps taps;
  for (int offset = -1; offset <= 2; ++offset) {
    const int64_t cell = static_cast<int64_t>(first) + offset;
    taps.cells.push_back(std::clamp<int64_t>(cell, 0, size - 1));
    taps.weights.push_back(static_cast<float>(cubic(place - first - offset, -0.75)));
  }
  return taps;
}

// Cells beyond an edge do not count.
Taps antialias_taps(int64_t size, int64_t out_size, int64_t at) {
  const double scale = static_cast<double>(size) / static_cast<double>(out_size);
  const double stretch = std::max(scale, 1.0), support = 2 * stretch;
  const double centre = scale * (static_cast<double>(at) + 0.5);
  const int64_t begin = std::max<int64_t>(static_cast<int64_t>(centre - support + 0.5), 0);
  const int64_t end = std::min(static_cast<int64_t>(centre + support + 0.5), size);
  std::vector<double> weights;
  double sum = 0;
  for (int64_t cell = begin; cell < end; ++cell) {
    weights.push_back(cubic((static_cast<double>(cell) - centre + 0.5) / stretch, -0.5));
    sum += weights.back();
  }
  Taps taps;
  for (int64_t cell = begin; cell < end; ++cell) {
    taps.cells.push_back(cell);
    taps.weights.push_back(static_cast<float>(weights[static_cast<size_t>(cell - begin)] / sum));
  }
  return taps;
}

std::vector<Taps> all_taps(int64_t size, int64_t out_size, BicubicFilter filter) {
  std::vector<Taps> taps;
  for (int64_t at = 0; at < out_size; ++at) {
    taps.push_back(filter == BicubicFilter::kPlain ? plain_taps(size, out_size, at)
                                                   : antialias_taps(size, out_size, at));
  }
  return taps;
}

// out += sum over taps of the weight times the row of `length` numbers that stands `stride` apart.
void mix(const Taps& taps, const float* from, int64_t stride, int64_t length, float* out) {
  for (size_t t = 0; t < taps.cells.size(); ++t) {
    const float weight = taps.weights[t];
    const float* row = from + taps.cells[t] * stride;
    for (int64_t i = 0; i < length; ++i) out[i] += weight * row[i];
  }
}

}  // namespace

Tensor resize_bicubic(const Tensor& grid, int64_t out_rows, int64_t out_cols,
                      BicubicFilter filter) {
  FOVEA_ASSERT(grid.rank() == 3 && !grid.empty() && out_rows > 0 && out_cols > 0);
  const int64_t rows = grid.size(0), cols = grid.size(1), dim = grid.size(2);
  const std::vector<Taps> row_taps = all_taps(rows, out_rows, filter);
  const std::vector<Taps> col_taps = all_taps(cols, out_cols, filter);
  const float* from = grid.values<float>().data();
  Tensor resized({out_rows, out_cols, dim});
  float* to = resized.mutable_values<float>().data();
  parallel_rows(out_rows, 8 * std::max(cols, out_cols) * dim, [&](int64_t begin, int64_t end) {
    std::vector<float> line(static_cast<size_t>(cols * dim));
    for (int64_t row = begin; row < end; ++row) {
      std::ranges::fill(line, 0.0F);
      mix(row_taps[static_cast<size_t>(row)], from, cols * dim, cols * dim, line.data());
      for (int64_t col = 0; col < out_cols; ++col) {
        mix(col_taps[static_cast<size_t>(col)], line.data(), dim, dim,
            to + (row * out_cols + col) * dim);
      }
    }
  });
  return resized;
}

}  // namespace fovea
