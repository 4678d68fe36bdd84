#include "fovea/kernels/group_norm.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/base/error.h"
#include "support/compare.h"
#include "support/random.h"

namespace fovea {
namespace {

using support::all_close;
using support::random_tensor;

std::vector<double> group_norm_reference(const Tensor& x, int64_t groups, const Tensor& weight,
                                         const Tensor& bias, double epsilon) {
  const int64_t channels = x.size(1), plane = x.size(2) * x.size(3), each = channels / groups;
  std::vector<double> result = support::to_doubles(x);
  for (int64_t group = 0; group < x.size(0) * groups; ++group) {
    double* first = result.data() + group * each * plane;
    const int64_t count = each * plane;
    double mean = 0, square = 0;
    for (int64_t i = 0; i < count; ++i) mean += first[i] / static_cast<double>(count);
    for (int64_t i = 0; i < count; ++i) {
      square += (first[i] - mean) * (first[i] - mean) / static_cast<double>(count);
    }
    for (int64_t i = 0; i < count; ++i) {
      const auto channel = static_cast<size_t>(group % groups * each + i / plane);
      const double normed = (first[i] - mean) / std::sqrt(square + epsilon);
      first[i] = std::max(0.0, normed * double{weight.values<float>()[channel]} +
                                   double{bias.values<float>()[channel]});
    }
  }
  return result;
}

TEST(GroupNorm, MatchesDoubleForSizesAroundTheLanes) {
  uint64_t seed = 1;
  for (const auto& [shape, groups] : std::vector<std::pair<Shape, int64_t>>{
           {{1, 4, 1, 1}, 1}, {{2, 6, 3, 5}, 3}, {{3, 8, 7, 9}, 8}, {{1, 72, 25, 34}, 8}}) {
    SCOPED_TRACE(to_string(shape));
    Tensor x = random_tensor(shape, ++seed);
    for (float& value : x.mutable_values<float>()) value += 3;  // a common offset costs no digits
    const Tensor weight = random_tensor({shape[1]}, ++seed),
                 bias = random_tensor({shape[1]}, ++seed);
    const std::vector<double> expected = group_norm_reference(x, groups, weight, bias, 1e-3);
    group_norm(x, groups, weight.values<float>(), bias.values<float>(), 1e-3F, Activation::kRelu);
    // One product of numbers around 5 and one sum, each rounded once.
    EXPECT_TRUE(all_close(x, expected, 3e-6));
  }
}

TEST(GroupNorm, RefusesWhatDoesNotFit) {
  const std::vector<float> ones(6, 1.0F);
  Tensor x(Shape{1, 6, 2, 2});
  EXPECT_THROW(group_norm(x, 4, ones, ones, 1e-5F, Activation::kNone), Error);
  EXPECT_THROW(group_norm(x, 0, ones, ones, 1e-5F, Activation::kNone), Error);
  Tensor flat(Shape{6, 4});
  EXPECT_THROW(group_norm(flat, 2, ones, ones, 1e-5F, Activation::kNone), Error);
  EXPECT_THROW(group_norm(x, 2, std::span(ones).first(5), ones, 1e-5F, Activation::kNone), Error);
}

}  // namespace
}  // namespace fovea
