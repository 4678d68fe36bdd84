#include "fovea/kernels/fixed_conv.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "fovea/kernels/blocked_image.h"
#include "fovea/kernels/pool.h"
#include "support/compare.h"
#include "support/conv_cases.h"
#include "support/fixed_rows.h"
#include "support/random.h"

namespace fovea {
namespace {

using support::all_close;
using support::at;
using support::conv_cases;
using support::ConvCase;
using support::fixed_kernels;
using support::fixed_pixels;
using support::kConvTolerance;
using support::random_tensor;
using support::reference_conv;
using support::to_doubles;

// More channels than a group of them, and what ResNets have.
std::vector<ConvCase> cases_with_channels() {
  std::vector<ConvCase> all = conv_cases();
  const std::vector<ConvCase> more{
      {"16 channels", {1, 16, 9, 30}, {33, 16, 3, 3}, {.padding = {1, 1}}},
      {"an odd number", {2, 19, 8, 7}, {5, 19, 3, 3}, {.padding = {1, 1}}},
      {"strided", {1, 40, 15, 27}, {70, 40, 3, 3}, {.stride = {2, 2}, .padding = {1, 1}}},
      {"wide dilated", {1, 24, 9, 14}, {16, 24, 3, 3}, {.padding = {2, 2}, .dilation = {2, 2}}},
      {"wide 1 x 1", {2, 48, 7, 13}, {130, 48, 1, 1}, {}},
      {"wide 1 x 1 strided", {1, 64, 7, 13}, {48, 64, 1, 1}, {.stride = {2, 2}}},
      {"uneven kernel",
       {1, 20, 6, 9},
       {18, 20, 2, 4},
       {.stride = {1, 3}, .padding = {1, 2}, .dilation = {2, 1}}},
  };
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

TEST(FixedConv, MatchesDoubleOfRoundedPixelsAndWeights) {
  uint64_t seed = 500;
  for (const ConvCase& c : cases_with_channels()) {
    SCOPED_TRACE(c.name);
    const Tensor x = random_tensor(c.input, ++seed), w = random_tensor(c.weight, ++seed);
    const Tensor bias = random_tensor({c.weight[0]}, ++seed);
    const Tensor residual = random_tensor(conv_output_shape(c.input, c.weight, c.geometry), ++seed);
    const PackedConv conv(w, bias, c.geometry, DType::kI16);
    const bool rounds = conv.compute_dtype() == DType::kI16;
    EXPECT_EQ(can_fix_conv(c.weight, c.geometry), c.geometry.groups == 1 && c.weight[1] >= 16);
    EXPECT_EQ(rounds, has_i16_dot() && can_fix_conv(c.weight, c.geometry));
    const Tensor seen = rounds ? fixed_pixels(x) : x, weight = rounds ? fixed_kernels(w) : w;
    std::vector<double> expected = reference_conv(c, seen, weight, bias);
    EXPECT_TRUE(all_close(conv.apply(x), expected, kConvTolerance));
    EXPECT_TRUE(all_close(conv.unpack(), to_doubles(weight), 0));
    EXPECT_TRUE(all_close(conv.apply(BlockedImage(x), false).plain(), expected, kConvTolerance));
    for (size_t i = 0; i < expected.size(); ++i) {
      expected[i] = std::max(expected[i] + at(residual, static_cast<int64_t>(i)), 0.0);
    }
    const std::vector<double> before = to_doubles(residual);
    const Tensor y = conv.apply(BlockedImage(x), true, BlockedImage(residual)).plain();
    EXPECT_TRUE(all_close(y, expected, kConvTolerance));
    EXPECT_TRUE(all_close(residual, before, 0));
    EXPECT_TRUE(all_close(conv.unpack(), to_doubles(weight), 0));
  }
}

TEST(FixedConv, StandsBeforeAndBehindTheOtherKind) {
  const ConvGeometry same{.padding = {1, 1}};
  const Tensor x = random_tensor({1, 20, 9, 7}, 601), w = random_tensor({20, 20, 3, 3}, 602);
  const PackedConv exact(w, {}, same), rounding(w, {}, same, DType::kI16);
  const bool rounds = rounding.compute_dtype() == DType::kI16;
  const ConvCase c{"", x.shape(), w.shape(), same};
  // Sums of 180 products of numbers up to 50.
  const BlockedImage first = rounding.apply(BlockedImage(x), true);
  EXPECT_TRUE(all_close(exact.apply(first, false).plain(), reference_conv(c, first.plain(), w, {}),
                        10 * kConvTolerance));
  const BlockedImage whole = exact.apply(BlockedImage(x), true);
  const auto expected = reference_conv(c, rounds ? fixed_pixels(whole.plain()) : whole.plain(),
                                       rounds ? fixed_kernels(w) : w, {});
  EXPECT_TRUE(all_close(rounding.apply(whole, false).plain(), expected, 10 * kConvTolerance));
  // A residual that nobody else holds is written over, one that others hold is not.
  const BlockedImage held = rounding.apply(BlockedImage(x), false);
  const std::vector<double> before = to_doubles(held.plain());
  const Tensor sum = rounding.apply(first, false, held).plain();
  EXPECT_TRUE(all_close(held.plain(), before, 0));
  BlockedImage own = rounding.apply(BlockedImage(x), false);
  EXPECT_TRUE(all_close(rounding.apply(first, false, std::move(own)).plain(), to_doubles(sum), 0));
  const PoolGeometry pool{.kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1}};
  EXPECT_TRUE(
      all_close(max_pool(first, pool).plain(), to_doubles(max_pool(first.plain(), pool)), 0));
}

}  // namespace
}  // namespace fovea
