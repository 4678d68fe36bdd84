#include "fovea/kernels/conv.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "fovea/kernels/blocked_image.h"
#include "fovea/kernels/pool.h"
#include "fovea/tensor/convert.h"
#include "support/compare.h"
#include "support/random.h"

namespace fovea {
namespace {

using testing::all_close;
using testing::random_tensor;
using testing::to_doubles;

struct Case {
  const char* name;
  Shape input;
  Shape weight;
  ConvGeometry geometry;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
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
void for_each_product(const Case& c, const Visit& visit) {
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

double at(const Tensor& tensor, int64_t index) {
  return tensor.values<float>()[static_cast<size_t>(index)];
}

std::vector<double> reference_conv(const Case& c, const Tensor& x, const Tensor& w,
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
constexpr double kTolerance = 1e-4;

TEST(Conv, ForwardMatchesDouble) {
  uint64_t seed = 1;
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    const Tensor x = random_tensor(c.input, ++seed), w = random_tensor(c.weight, ++seed);
    const Tensor bias = random_tensor({c.weight[0]}, ++seed);
    for (const Tensor& b : {Tensor(), bias}) {
      const PackedConv conv(w, b, c.geometry);
      std::vector<double> expected = reference_conv(c, x, w, b);
      const Tensor y = conv.apply(x);
      EXPECT_EQ(to_string(y.shape()), to_string(conv_output_shape(c.input, c.weight, c.geometry)));
      EXPECT_TRUE(all_close(y, expected, kTolerance));
      for (double& value : expected) value = std::max(value, 0.0);
      EXPECT_TRUE(all_close(conv.apply(x, /*relu=*/true), expected, kTolerance));
      EXPECT_TRUE(all_close(conv.unpack(), to_doubles(w), 0));
    }
  }
}

TEST(Conv, BlockedImagesGiveTheSame) {
  uint64_t seed = 100;
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    const Tensor x = random_tensor(c.input, ++seed), w = random_tensor(c.weight, ++seed);
    const Tensor bias = random_tensor({c.weight[0]}, ++seed);
    const PackedConv conv(w, bias, c.geometry);
    std::vector<double> expected = reference_conv(c, x, w, bias);
    const Tensor residual = random_tensor(conv_output_shape(c.input, c.weight, c.geometry), ++seed);
    EXPECT_TRUE(all_close(conv.apply(BlockedImage(x), false).plain(), expected, kTolerance));
    for (size_t i = 0; i < expected.size(); ++i) {
      expected[i] = std::max(expected[i] + at(residual, static_cast<int64_t>(i)), 0.0);
    }
    const std::vector<double> before = to_doubles(residual);
    const Tensor y = conv.apply(BlockedImage(x), true, BlockedImage(residual)).plain();
    EXPECT_TRUE(all_close(y, expected, kTolerance));
    EXPECT_TRUE(all_close(residual, before, 0));  // what others hold is not written over
    EXPECT_TRUE(all_close(conv.apply(x, false), reference_conv(c, x, w, bias), kTolerance));
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

// As a convolution in `type` sees a number.
Tensor rounded_to(DType type, const Tensor& x) {
  return convert(convert(x, type), DType::kF32);
}

TEST(Conv, Bf16RoundsInputsAndWeightsAndSumsInFloat) {
  uint64_t seed = 500;
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    const Tensor x = random_tensor(c.input, ++seed), w = random_tensor(c.weight, ++seed);
    const Tensor bias = random_tensor({c.weight[0]}, ++seed);
    const Tensor residual = random_tensor(conv_output_shape(c.input, c.weight, c.geometry), ++seed);
    const PackedConv conv(w, bias, c.geometry, DType::kBF16);
    const DType type = conv.compute_dtype();
    const Tensor seen = rounded_to(type, x), weight = rounded_to(type, w);
    // Products of bf16 numbers are exact in f32: what is left is what f32 sums lose.
    std::vector<double> expected = reference_conv(c, seen, weight, bias);
    EXPECT_TRUE(all_close(conv.apply(x), expected, kTolerance));
    EXPECT_TRUE(all_close(conv.unpack(), to_doubles(weight), 0));
    // Images between convolutions are rounded once more, by half of the last of 8 bits.
    constexpr double kHalfBit = 1.0 / 256;
    EXPECT_TRUE(
        all_close(conv.apply(BlockedImage(x), false).plain(), expected, kTolerance, kHalfBit));
    const Tensor added = rounded_to(type, residual);
    for (size_t i = 0; i < expected.size(); ++i) {
      expected[i] = std::max(expected[i] + at(added, static_cast<int64_t>(i)), 0.0);
    }
    const Tensor y = conv.apply(BlockedImage(x), true, BlockedImage(residual)).plain();
    EXPECT_TRUE(all_close(y, expected, kTolerance, kHalfBit));
    EXPECT_TRUE(all_close(y, to_doubles(rounded_to(type, y)), 0));
    EXPECT_TRUE(all_close(conv.unpack(), to_doubles(weight), 0));
  }
}

TEST(Conv, ImagesOfOneTypeServeConvolutionsInTheOther) {
  const ConvGeometry same{.padding = {1, 1}};
  const Tensor x = random_tensor({1, 16, 9, 7}, 601), w = random_tensor({16, 16, 3, 3}, 602);
  const PackedConv exact(w, {}, same), rounding(w, {}, same, DType::kBF16);
  const DType type = rounding.compute_dtype();
  const Case c{"", x.shape(), w.shape(), same};
  const BlockedImage half = rounding.apply(BlockedImage(x), true);
  // Sums of 144 products of numbers up to 40.
  EXPECT_TRUE(all_close(exact.apply(half, false).plain(), reference_conv(c, half.plain(), w, {}),
                        10 * kTolerance));
  const BlockedImage whole = exact.apply(BlockedImage(x), true);
  const auto expected = reference_conv(c, rounded_to(type, whole.plain()), rounded_to(type, w), {});
  EXPECT_TRUE(
      all_close(rounding.apply(whole, false).plain(), expected, 10 * kTolerance, 1.0 / 256));
  const PoolGeometry pool{.kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1}};
  EXPECT_TRUE(all_close(max_pool(half, pool).plain(), to_doubles(max_pool(half.plain(), pool)), 0));
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
    const Case c{"", {1, 8, size, size + 1}, w.shape(), geometry};
    const Tensor x = random_tensor(c.input, static_cast<uint64_t>(size));
    EXPECT_TRUE(all_close(conv.apply(x), reference_conv(c, x, w, {}), kTolerance));
  }
}

TEST(Conv, GradientMatchesDouble) {
  uint64_t seed = 200;
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    const Tensor w = random_tensor(c.weight, ++seed);
    const Tensor g = random_tensor(conv_output_shape(c.input, c.weight, c.geometry), ++seed);
    std::vector<double> dx(static_cast<size_t>(c.input.elements()));
    for_each_product(c, [&](const Weighted& p) {
      dx[static_cast<size_t>(p.input)] += at(g, p.output) * at(w, p.weight);
    });
    EXPECT_TRUE(all_close(conv_input_gradient(c.input, w, c.geometry, g), dx, kTolerance));
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
