// Can attention do what a convolution does? Builds a layer of nine heads, each of which looks one
// step in its own direction, lets it find the edges of a small picture, and prints the result
// beside that of the 3 x 3 convolution. They differ at the border only: where a convolution sees
// zeros, softmax still has to look at some pixel and takes the nearest.
//
//   attention_as_convolution
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/explain/pictures/convolution_heads.h"
#include "fovea/kernels/conv.h"

namespace {

constexpr int64_t kRows = 6;
constexpr int64_t kCols = 8;

// Dark, with a bright square that stands on the lower edge.
fovea::Tensor picture() {
  fovea::Tensor pixels({1, kRows, kCols});
  for (int64_t row = 2; row < kRows; ++row) {
    for (int64_t col = 2; col < 6; ++col) {
      pixels.mutable_values<float>()[static_cast<size_t>(row * kCols + col)] = 1;
    }
  }
  return pixels;
}

void print_row(const fovea::Tensor& pixels, int64_t row) {
  for (int64_t col = 0; col < kCols; ++col) {
    const double value = pixels.values<float>()[static_cast<size_t>(row * kCols + col)];
    fmt::print("{:5.1f}", std::round(value * 10) / 10 + 0.0);  // + 0: no minus before a zero
  }
}

}  // namespace

int main() {
  try {
    const fovea::Tensor kernel = fovea::Tensor::from<float>(
        {1, 1, 3, 3}, std::vector<float>{-1, -1, -1, -1, 8, -1, -1, -1, -1});
    const fovea::Tensor pixels = picture();
    const fovea::Tensor attended =
        mix_heads(fovea::convolution_record(pixels, 3), {kRows, kCols}, kernel);
    const fovea::Tensor convolved = fovea::PackedConv(kernel, {}, {.padding = {1, 1}})
                                        .apply(pixels.reshaped({1, 1, kRows, kCols}));

    fmt::print("{:<{}}   {}\n", "nine heads of attention", kCols * 5, "a 3 x 3 convolution");
    double largest = 0;
    for (int64_t row = 0; row < kRows; ++row) {
      print_row(attended, row);
      fmt::print("   ");
      print_row(convolved, row);
      fmt::print("\n");
      for (int64_t col = 1; col < kCols - 1 && row > 0 && row < kRows - 1; ++col) {
        const auto at = static_cast<size_t>(row * kCols + col);
        largest = std::max(largest, std::abs(double{attended.values<float>()[at]} -
                                             double{convolved.values<float>()[at]}));
      }
    }
    fmt::print("largest difference inside the border: {:.1e}\n", largest);
  } catch (const fovea::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
