#include "fovea/kernels/conv.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "fovea/kernels/blocked_image.h"
#include "fovea/kernels/pool.h"
#include "support/compare.h"
#include "support/conv_cases.h"
#include "support/random.h"

namespace fovea {
namespace {

using support::all_close;
using support::at;
using support::conv_cases;
using support::ConvCase;
using support::for_each_product;
using support::kConvTolerance;
using support::random_tensor;
using support::reference_conv;
using support::to_doubles;
using support::Weighted;

TEST(Conv, ForwardMatchesDouble) {
  uint64_t seed = 1;
  for (const ConvCase& c : conv_cases()) {
    SCOPED_TRACE(c.name);
    const Tensor x = random_tensor(c.input, ++seed), w = random_tensor(c.weight, ++seed);
    const Tensor bias = random_tensor({c.weight[0]}, ++seed);
    for (const Tensor& b : {Tensor(), bias}) {
      const PackedConv conv(w, b, c.geometry);
      std::vector<double> expected = reference_conv(c, x, w, b);
      const Tensor y = conv.apply(x);
      EXPECT_EQ(to_string(y.shape()), to_string(conv_output_shape(c.input, c.weight, c.geometry)));
      EXPECT_TRUE(all_close(y, expected, kConvTolerance));
      for (double& value : expected) value = std::max(value, 0.0);
      EXPECT_TRUE(all_close(conv.apply(x, /*relu=*/true), expected, kConvTolerance));
      EXPECT_TRUE(all_close(conv.unpack(), to_doubles(w), 0));
    }
  }
}

TEST(Conv, BlockedImagesGiveTheSame) {
  uint64_t seed = 100;
  for (const ConvCase& c : conv_cases()) {
    SCOPED_TRACE(c.name);
    const Tensor x = random_tensor(c.input, ++seed), w = random_tensor(c.weight, ++seed);
    const Tensor bias = random_tensor({c.weight[0]}, ++seed);
    const PackedConv conv(w, bias, c.geometry);
    std::vector<double> expected = reference_conv(c, x, w, bias);
    const Tensor residual = random_tensor(conv_output_shape(c.input, c.weight, c.geometry), ++seed);
    EXPECT_TRUE(all_close(conv.apply(BlockedImage(x), false).plain(), expected, kConvTolerance));
    for (size_t i = 0; i < expected.size(); ++i) {
      expected[i] = std::max(expected[i] + at(residual, static_cast<int64_t>(i)), 0.0);
    }
    const std::vector<double> before = to_doubles(residual);
    const Tensor y = conv.apply(BlockedImage(x), true, BlockedImage(residual)).plain();
    EXPECT_TRUE(all_close(y, expected, kConvTolerance));
    EXPECT_TRUE(all_close(residual, before, 0));  // what others hold is not written over
    EXPECT_TRUE(all_close(conv.apply(x, false), reference_conv(c, x, w, bias), kConvTolerance));
  }
}

TEST(Conv, AResidualThatOthersHoldStaysAsItIs) {
  const Tensor x = random_tensor({1, 16, 6, 7}, 101);
  const PackedConv conv(random_tensor({16, 16, 3, 3}, 102), {}, {.padding = {1, 1}});
  const BlockedImage first = conv.apply(BlockedImage(x), false);
  const std::vector<double> before = to_doubles(first.plain());
  const Tensor held = conv.apply(first, false, first).plain();
  EXPECT_TRUE(all_close(first.plain(), before, 0));
  // Handed over, it is written over and the sum is the same to the bit.
  BlockedImage own = conv.apply(BlockedImage(x), false);
  const Tensor handed = conv.apply(first, false, std::move(own)).plain();
  EXPECT_TRUE(all_close(handed, to_doubles(held), 0));
}

TEST(BlockedImage, RefusesWhatIsNoImage) {
  EXPECT_THROW(BlockedImage(Tensor(Shape{3, 4, 5})), Error);
  EXPECT_THROW(BlockedImage(Tensor(Shape{1, 3, 4, 5}, DType::kF16)), Error);
  const PackedConv conv(random_tensor({4, 3, 1, 1}, 103), {}, {});
  EXPECT_THROW(conv.apply(BlockedImage(Tensor(Shape{1, 2, 4, 5})), false), Error);
  EXPECT_THROW(conv.apply(BlockedImage(Tensor(Shape{1, 3, 4, 5})), false,
                          BlockedImage(Tensor(Shape{1, 4, 5, 4}))),
               Error);
  EXPECT_EQ(conv.apply(BlockedImage(Tensor(Shape{0, 3, 4, 5})), false).plain().elements(), 0);
}

TEST(Conv, OneSetOfWeightsServesChangingImageSizes) {
  const Tensor w = random_tensor({17, 8, 3, 3}, 50);
  const ConvGeometry geometry{.padding = {1, 1}};
  const PackedConv conv(w, {}, geometry);
  for (const int64_t size : {40, 1, 7, 33, 2, 40, 5, 6, 8, 9, 10, 11}) {
    SCOPED_TRACE(size);
    const ConvCase c{"", {1, 8, size, size + 1}, w.shape(), geometry};
    const Tensor x = random_tensor(c.input, static_cast<uint64_t>(size));
    EXPECT_TRUE(all_close(conv.apply(x), reference_conv(c, x, w, {}), kConvTolerance));
  }
}

TEST(Conv, GradientMatchesDouble) {
  uint64_t seed = 200;
  for (const ConvCase& c : conv_cases()) {
    SCOPED_TRACE(c.name);
    const Tensor w = random_tensor(c.weight, ++seed);
    const Tensor g = random_tensor(conv_output_shape(c.input, c.weight, c.geometry), ++seed);
    std::vector<double> dx(static_cast<size_t>(c.input.elements()));
    for_each_product(c, [&](const Weighted& p) {
      dx[static_cast<size_t>(p.input)] += at(g, p.output) * at(w, p.weight);
    });
    EXPECT_TRUE(all_close(conv_input_gradient(c.input, w, c.geometry, g), dx, kConvTolerance));
  }
}

TEST(Conv, EmptyBatchGivesEmptyResults) {
  const Tensor w = random_tensor({4, 3, 3, 3}, 60);
  EXPECT_EQ(PackedConv(w, {}, {}).apply(Tensor(Shape{0, 3, 5, 5})).elements(), 0);
  const Tensor dx = conv_input_gradient({0, 3, 5, 5}, w, {}, Tensor(Shape{0, 4, 3, 3}));
  EXPECT_EQ(dx.elements(), 0);
}

TEST(Conv, RefusesWhatDoesNotFit) {
  const Tensor w = random_tensor({4, 3, 3, 3}, 61);
  EXPECT_THROW(PackedConv(Tensor(Shape{4, 3}), {}, {}), Error);
  EXPECT_THROW(PackedConv(w, Tensor(Shape{3}), {}), Error);
  EXPECT_THROW(PackedConv(w, {}, {}, DType::kF16), Error);
  EXPECT_THROW(PackedConv(w, {}, {.stride = {0, 1}}), Error);
  EXPECT_THROW(PackedConv(w, {}, {.padding = {-1, 0}}), Error);
  EXPECT_THROW(PackedConv(w, {}, {.dilation = {1, int64_t{1} << 62}}), Error);
  EXPECT_THROW(PackedConv(w, {}, {.groups = 3}), Error);  // 4 outputs
  EXPECT_THROW(PackedConv(w, {}, {.groups = int64_t{1} << 62}), Error);
  const PackedConv conv(w, {}, {});
  EXPECT_THROW(conv.apply(Tensor(Shape{1, 2, 5, 5})), Error);
  EXPECT_THROW(conv.apply(Tensor(Shape{1, 3, 2, 5})), Error);  // smaller than the kernel
  EXPECT_THROW(conv.apply(Tensor(Shape{3, 5, 5})), Error);
  EXPECT_THROW(conv.apply(Tensor(Shape{1, 3, 5, 5}, DType::kF16)), Error);
  EXPECT_THROW(conv_input_gradient({1, 3, 5, 5}, w, {}, Tensor(Shape{1, 4, 2, 3})), Error);
}

}  // namespace
}  // namespace fovea
