#include "fovea/ops/feature_map.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/gradient_check.h"

namespace fovea {
namespace {

using support::check_gradients;
using support::Doubles;
using support::random_tensor;

TEST(Pool2d, MatchesDoubleWithItsGradients) {
  const Shape in{2, 2, 6, 5};
  const std::vector<PoolGeometry> geometries{
      {},
      {.kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1}},
      {.kernel = {3, 2}, .stride = {1, 2}, .padding = {1, 1}},
  };
  for (const PoolGeometry& g : geometries) {
    const Shape out = pool_output_shape(in, g);
    const auto pooled = [&](const Doubles& x, bool average) {
      Doubles result;
      for (int64_t plane = 0; plane < in[0] * in[1]; ++plane)
        for (int64_t row = 0; row < out[2]; ++row)
          for (int64_t col = 0; col < out[3]; ++col) {
            double sum = 0, largest = -1e30, count = 0;
            for (int64_t ky = 0; ky < g.kernel[0]; ++ky)
              for (int64_t kx = 0; kx < g.kernel[1]; ++kx) {
                const int64_t y = row * g.stride[0] - g.padding[0] + ky;
                const int64_t at = col * g.stride[1] - g.padding[1] + kx;
                const bool inside = y >= 0 && y < in[2] && at >= 0 && at < in[3];
                count += 1;
                if (!inside) continue;
                const double value = x[static_cast<size_t>((plane * in[2] + y) * in[3] + at)];
                sum += value;
                largest = std::max(largest, value);
              }
            result.push_back(average ? sum / count : largest);
          }
      return result;
    };
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      check_gradients({.op = [&](const auto& x) { return ops::max_pool2d(x[0], g); },
                       .reference = [&](const auto& x) { return pooled(x[0], false); },
                       .inputs = {random_tensor(in, seed)}},
                      seed + 10);
      check_gradients({.op = [&](const auto& x) { return ops::average_pool2d(x[0], g); },
                       .reference = [&](const auto& x) { return pooled(x[0], true); },
                       .inputs = {random_tensor(in, seed)}},
                      seed + 10);
    }
  }
}

TEST(Pool2d, RefusesWhatIsNoImage) {
  EXPECT_THROW(ops::max_pool2d(random_tensor({3, 5}, 1), {}), Error);
}

}  // namespace
}  // namespace fovea
