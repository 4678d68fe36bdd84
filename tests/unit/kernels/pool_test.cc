#include "fovea/kernels/pool.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "fovea/kernels/blocked_image.h"
#include "support/compare.h"
#include "support/random.h"

namespace fovea {
namespace {

using support::all_close;
using support::random_tensor;

double sample_at(const Tensor& tensor, int64_t index) {
  return tensor.values<float>()[static_cast<size_t>(index)];
}

const std::vector<std::pair<Shape, PoolGeometry>>& pool_cases() {
  static const std::vector<std::pair<Shape, PoolGeometry>> all{
      {{1, 2, 6, 8}, {}},
      {{2, 3, 7, 9}, {.kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1}}},
      {{1, 1, 5, 4}, {.kernel = {2, 3}, .stride = {1, 2}, .padding = {1, 0}}},
      {{1, 2, 9, 9}, {.kernel = {5, 4}, .stride = {3, 3}, .padding = {2, 2}}},
      {{1, 4, 3, 3}, {.kernel = {3, 3}, .stride = {1, 1}}},
      {{1, 1, 1, 1}, {.kernel = {1, 1}, .stride = {5, 5}}},
      {{1, 1, 2, 1}, {.kernel = {2, 2}, .stride = {1, 1}, .padding = {1, 1}}},
  };
  return all;
}

// Calls visit(output index, input index or -1 for padding) for every element of every window.
template <typename Visit>
void for_each_pooled(const Shape& in, const PoolGeometry& g, const Visit& visit) {
  const Shape out = pool_output_shape(in, g);
  for (int64_t plane = 0; plane < in[0] * in[1]; ++plane)
    for (int64_t y = 0; y < out[2]; ++y)
      for (int64_t x = 0; x < out[3]; ++x)
        for (int64_t ky = 0; ky < g.kernel[0]; ++ky)
          for (int64_t kx = 0; kx < g.kernel[1]; ++kx) {
            const int64_t in_y = y * g.stride[0] - g.padding[0] + ky;
            const int64_t in_x = x * g.stride[1] - g.padding[1] + kx;
            const bool inside = in_y >= 0 && in_y < in[2] && in_x >= 0 && in_x < in[3];
            visit((plane * out[2] + y) * out[3] + x,
                  inside ? (plane * in[2] + in_y) * in[3] + in_x : -1);
          }
}

TEST(Pool, MaxAndItsGradientMatchTheDefinition) {
  uint64_t seed = 300;
  for (const auto& [shape, geometry] : pool_cases()) {
    const Tensor x = random_tensor(shape, ++seed);
    const Shape out = pool_output_shape(shape, geometry);
    const Tensor g = random_tensor(out, ++seed);
    std::vector<double> expected(static_cast<size_t>(out.elements()), -1e30);
    std::vector<int64_t> from(expected.size());
    for_each_pooled(shape, geometry, [&](int64_t o, int64_t i) {
      const auto cell = static_cast<size_t>(o);
      if (i >= 0 && sample_at(x, i) > expected[cell]) {
        expected[cell] = sample_at(x, i);
        from[cell] = i;
      }
    });
    EXPECT_TRUE(all_close(max_pool(x, geometry), expected, 0));
    EXPECT_TRUE(all_close(max_pool(BlockedImage(x), geometry).plain(), expected, 0));
    std::vector<double> gradient(static_cast<size_t>(x.elements()));
    for (size_t o = 0; o < from.size(); ++o) {
      gradient[static_cast<size_t>(from[o])] += sample_at(g, static_cast<int64_t>(o));
    }
    EXPECT_TRUE(all_close(max_pool_gradient(x, geometry, g), gradient, 2e-6));  // sums in float
  }
}

TEST(Pool, AverageAndItsGradientMatchTheDefinition) {
  uint64_t seed = 400;
  for (const auto& [shape, geometry] : pool_cases()) {
    const Tensor x = random_tensor(shape, ++seed);
    const Shape out = pool_output_shape(shape, geometry);
    const Tensor g = random_tensor(out, ++seed);
    std::vector<double> sums(static_cast<size_t>(out.elements())), counts(sums.size());
    for_each_pooled(shape, geometry, [&](int64_t o, int64_t i) {
      const auto cell = static_cast<size_t>(o);
      if (i >= 0) sums[cell] += sample_at(x, i);
      counts[cell] += 1;  // padding too
    });
    std::vector<double> gradient(static_cast<size_t>(x.elements()));
    for_each_pooled(shape, geometry, [&](int64_t o, int64_t i) {
      if (i >= 0)
        gradient[static_cast<size_t>(i)] += sample_at(g, o) / counts[static_cast<size_t>(o)];
    });
    for (size_t o = 0; o < sums.size(); ++o) sums[o] /= counts[o];
    EXPECT_TRUE(all_close(average_pool(x, geometry), sums, 1e-6));
    EXPECT_TRUE(all_close(average_pool_gradient(shape, geometry, g), gradient, 2e-6));
  }
}

TEST(Pool, NanWinsEveryWindowItIsIn) {
  Tensor x = random_tensor({1, 1, 4, 4}, 70);
  x.mutable_values<float>()[5] = std::nanf("");
  const Tensor y = max_pool(x, {.kernel = {3, 3}, .stride = {1, 1}});
  for (const float value : y.values<float>()) EXPECT_TRUE(std::isnan(value));
}

TEST(Pool, RefusesWhatDoesNotFit) {
  const Tensor x(Shape{1, 1, 4, 4});
  EXPECT_THROW(max_pool(Tensor(Shape{4, 4}), {}), Error);
  EXPECT_THROW(max_pool(x, {.kernel = {5, 2}}), Error);
  EXPECT_THROW(max_pool(x, {.kernel = {2, 2}, .padding = {2, 0}}), Error);
  EXPECT_THROW(average_pool(x, {.kernel = {0, 2}}), Error);
  EXPECT_THROW(average_pool(x, {.stride = {0, 2}}), Error);
  EXPECT_THROW(max_pool_gradient(x, {}, Tensor(Shape{1, 1, 4, 4})), Error);
}

}  // namespace
}  // namespace fovea
