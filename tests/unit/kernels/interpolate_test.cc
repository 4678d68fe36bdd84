#include "fovea/kernels/interpolate.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/compare.h"
#include "support/random.h"

namespace fovea {
namespace {

using fovea::support::all_close;
using fovea::support::random_tensor;

// Two passes of at most some tens of products of numbers around 1.
constexpr double kTolerance = 2e-6;

double cubic(double x, double a) {
  x = std::abs(x);
  if (x <= 1) return (a + 2) * x * x * x - (a + 3) * x * x + 1;
  if (x < 2) return a * x * x * x - 5 * a * x * x + 8 * a * x - 4 * a;
  return 0;
}

// Weight of old cell `from` in new cell `to`, by looking at every neighbour that could reach it.
double weight(int64_t from, int64_t to, int64_t size, int64_t out_size, BicubicFilter filter) {
  const double scale = static_cast<double>(size) / static_cast<double>(out_size);
  const double centre = (static_cast<double>(to) + 0.5) * scale - 0.5;
  if (filter == BicubicFilter::kPlain) {
    double sum = 0;
    for (int64_t cell = -4; cell < size + 4; ++cell) {
      const int64_t inside = std::min(std::max<int64_t>(cell, 0), size - 1);
      if (inside == from) sum += cubic(static_cast<double>(cell) - centre, -0.75);
    }
    return sum;
  }
  const double stretch = std::max(1.0, scale);
  double own = 0, all = 0;
  for (int64_t cell = 0; cell < size; ++cell) {
    const double value = cubic((static_cast<double>(cell) - centre) / stretch, -0.5);
    all += value;
    if (cell == from) own = value;
  }
  return own / all;
}

std::vector<double> interpolate_reference(const Tensor& grid, int64_t rows, int64_t cols,
                                          BicubicFilter filter) {
  const int64_t dim = grid.size(2);
  std::vector<double> out(static_cast<size_t>(rows * cols * dim));
  for (int64_t i = 0; i < rows * cols; ++i) {
    for (int64_t j = 0; j < grid.size(0) * grid.size(1); ++j) {
      const double w = weight(j / grid.size(1), i / cols, grid.size(0), rows, filter) *
                       weight(j % grid.size(1), i % cols, grid.size(1), cols, filter);
      for (int64_t d = 0; d < dim; ++d) {
        out[static_cast<size_t>(i * dim + d)] +=
            w * double{grid.values<float>()[static_cast<size_t>(j * dim + d)]};
      }
    }
  }
  return out;
}

TEST(ResizeBicubic, IsTheSumOverAllCells) {
  const Tensor grid = random_tensor({7, 5, 3}, 1);
  for (const BicubicFilter filter : {BicubicFilter::kPlain, BicubicFilter::kAntialias}) {
    for (const auto& [rows, cols] : std::vector<std::pair<int64_t, int64_t>>{
             {7, 5}, {14, 10}, {9, 4}, {3, 11}, {1, 1}, {2, 2}, {60, 60}}) {
      const Tensor resized = resize_bicubic(grid, rows, cols, filter);
      ASSERT_EQ(resized.shape(), Shape({rows, cols, 3}));
      EXPECT_TRUE(all_close(resized.values<float>(),
                            interpolate_reference(grid, rows, cols, filter), kTolerance))
          << rows << " x " << cols;
    }
  }
}

// What torch 2.13 answers, to its own six digits.
TEST(ResizeBicubic, IsWhatTorchGives) {
  const Tensor grid = Tensor::from<float>({2, 3, 1}, std::vector<float>{0, 1, 4, 2, -1, 3});
  const auto resized = [&](int64_t rows, int64_t cols, BicubicFilter filter) {
    return resize_bicubic(grid, rows, cols, filter);
  };
  EXPECT_TRUE(
      all_close(resized(3, 5, BicubicFilter::kPlain).values<float>(),
                std::vector{-0.302944, 0.139362, 1.173611, 3.053487, 4.366474, 1.096, 0.36, 0.0,
                            2.070001, 3.836001, 2.494944, 0.580639, -1.173611, 1.086515, 3.305529},
                kTolerance));
  EXPECT_TRUE(all_close(resized(1, 2, BicubicFilter::kPlain).values<float>(),
                        std::vector{0.650391, 2.671875}, kTolerance));
  EXPECT_TRUE(all_close(
      resized(3, 5, BicubicFilter::kAntialias).values<float>(),
      std::vector{-0.226911, 0.180086, 1.131579, 3.093185, 4.287239, 1.075472, 0.492537, 0.0,
                  2.227612, 3.764151, 2.377855, 0.804988, -1.131579, 1.362039, 3.241062},
      kTolerance));
  EXPECT_TRUE(all_close(resized(1, 2, BicubicFilter::kAntialias).values<float>(),
                        std::vector{0.509631, 2.235152}, kTolerance));
}

TEST(ResizeBicubic, TheSameSizeChangesNothing) {
  const Tensor grid = random_tensor({4, 6, 5}, 2);
  for (const BicubicFilter filter : {BicubicFilter::kPlain, BicubicFilter::kAntialias}) {
    const Tensor same = resize_bicubic(grid, 4, 6, filter);
    EXPECT_TRUE(std::ranges::equal(same.values<float>(), grid.values<float>()));
  }
}

}  // namespace
}  // namespace fovea
