// Convolutions to try, and what they are in double.
#pragma once

#include <algorithm>
#include <vector>

#include "fovea/kernels/conv.h"

namespace fovea::support {

struct ConvCase {
  const char* name;
  Shape input;
  Shape weight;
  ConvGeometry geometry;
};

inline const std::vector<ConvCase>& conv_cases() {
  static const std::vector<ConvCase> all{
      {"plain 3 x 3", {1, 3, 9, 11}, {4, 3, 3, 3}, {}},
      {"padded and strided", {2, 5, 13, 10}, {7, 5, 3, 5}, {.stride = {2, 3}, .padding = {1, 2}}},
      {"dilated", {1, 6, 17, 15}, {3, 6, 3, 3}, {.padding = {2, 0}, .dilation = {2, 3}}},
      {"groups", {2, 6, 7, 8}, {9, 2, 2, 3}, {.padding = {1, 1}, .groups = 3}},
      {"depthwise", {1, 16, 8, 8}, {16, 1, 3, 3}, {.padding = {1, 1}, .groups = 16}},
      {"1 x 1", {1, 32, 5, 6}, {48, 32, 1, 1}, {}},
      {"1 x 1 in two images", {2, 5, 3, 7}, {9, 5, 1, 1}, {}},
      {"1 x 1 in groups", {1, 8, 4, 4}, {6, 4, 1, 1}, {.groups = 2}},
      {"1 x 1 padded", {1, 8, 4, 4}, {6, 8, 1, 1}, {.padding = {1, 2}}},
      {"1 x 1 strided", {1, 32, 7, 6}, {16, 32, 1, 1}, {.stride = {2, 2}}},
      {"patches", {1, 3, 16, 24}, {20, 3, 8, 8}, {.stride = {8, 8}}},
      {"7 x 7 stem", {1, 3, 21, 30}, {16, 3, 7, 7}, {.stride = {2, 2}, .padding = {3, 3}}},
      {"one pixel", {3, 2, 1, 1}, {2, 2, 1, 1}, {}},
  };
  return all;
}

struct Weighted {
  int64_t input, weight, output;
};

// Calls visit for every product that a convolution sums: out[output] += in[input] * w[weight].
template <typename Visit>
void for_each_product(const ConvCase& c, const Visit& visit) {
  const Shape out = conv_output_shape(c.input, c.weight, c.geometry);
  const int64_t out_per_group = c.weight[0] / c.geometry.groups;
  for (int64_t n = 0; n < out[0]; ++n)
    for (int64_t o = 0; o < out[1]; ++o)
      for (int64_t y = 0; y < out[2]; ++y)
        for (int64_t x = 0; x < out[3]; ++x)
          for (int64_t i = 0; i < c.weight[1]; ++i)
            for (int64_t ky = 0; ky < c.weight[2]; ++ky)
              for (int64_t kx = 0; kx < c.weight[3]; ++kx) {
                const int64_t in_y =
                    y * c.geometry.stride[0] - c.geometry.padding[0] + ky * c.geometry.dilation[0];
                const int64_t in_x =
                    x * c.geometry.stride[1] - c.geometry.padding[1] + kx * c.geometry.dilation[1];
                if (in_y < 0 || in_y >= c.input[2] || in_x < 0 || in_x >= c.input[3]) continue;
                const int64_t channel = o / out_per_group * c.weight[1] + i;
                visit(Weighted{
                    .input = ((n * c.input[1] + channel) * c.input[2] + in_y) * c.input[3] + in_x,
                    .weight = ((o * c.weight[1] + i) * c.weight[2] + ky) * c.weight[3] + kx,
                    .output = ((n * out[1] + o) * out[2] + y) * out[3] + x});
              }
}

inline double at(const Tensor& tensor, int64_t index) {
  return tensor.values<float>()[static_cast<size_t>(index)];
}

inline std::vector<double> reference_conv(const ConvCase& c, const Tensor& x, const Tensor& w,
                                          const Tensor& bias) {
  const Shape out = conv_output_shape(c.input, c.weight, c.geometry);
  std::vector<double> result(static_cast<size_t>(out.elements()));
  const int64_t plane = out[2] * out[3];
  for (size_t i = 0; i < result.size(); ++i) {
    if (!bias.empty()) result[i] = at(bias, static_cast<int64_t>(i) / plane % out[1]);
  }
  for_each_product(c, [&](const Weighted& p) {
    result[static_cast<size_t>(p.output)] += at(x, p.input) * at(w, p.weight);
  });
  return result;
}

// Up to 300 products of numbers around 1 are summed, each rounding half an ulp of a partial sum of
// about 20 (1e-6): 2e-5 in all, and Winograd forms lose a part of a digit more.
inline constexpr double kConvTolerance = 1e-4;

}  // namespace fovea::support
