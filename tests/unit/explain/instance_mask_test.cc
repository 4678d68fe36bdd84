#include "fovea/explain/pictures/instance_mask.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "fovea/explain/pictures/otsu.h"
#include "support/errors.h"

namespace fovea {
namespace {

// Otsu as the definition says: for each level both classes from the pixels themselves.
int64_t naive_otsu(const std::vector<int64_t>& pixels) {
  double best = 0;
  int64_t best_level = 0;
  for (int64_t level = 0; level < 256; ++level) {
    double sums[2] = {0, 0}, counts[2] = {0, 0};
    for (const int64_t pixel : pixels) {
      sums[pixel > level] += static_cast<double>(pixel);
      ++counts[pixel > level];
    }
    if (counts[0] == 0 || counts[1] == 0) continue;
    const double apart = sums[0] / counts[0] - sums[1] / counts[1];
    const double n = counts[0] + counts[1];
    const double spread = counts[0] / n * counts[1] / n * apart * apart;
    if (spread > best * (1 + 1e-12)) {  // equal but for rounding is equal
      best = spread;
      best_level = level;
    }
  }
  return best_level;
}

TEST(Otsu, IsTheLevelWithTheMeansFurthestApart) {
  std::mt19937 random(1);
  for (int test = 0; test < 50; ++test) {
    SCOPED_TRACE(test);
    std::normal_distribution<double> low(40 + test, 12), high(150 + test, 25);
    std::vector<int64_t> pixels;
    std::vector<int64_t> histogram(256);
    for (int i = 0; i < 300; ++i) {
      const double value = i % 4 == 0 ? high(random) : low(random);
      pixels.push_back(std::clamp<int64_t>(std::lround(value), 0, 255));
      ++histogram[static_cast<size_t>(pixels.back())];
    }
    EXPECT_EQ(otsu_level(histogram), naive_otsu(pixels));
  }
}

TEST(Otsu, PartsBrightCellsFromDarkOnes) {
  const GridShape grid{2, 3};
  const GridMask mask = otsu_mask(grid, std::vector<double>{0.1, 0.9, 0.12, 0.8, 0.11, 0.1});
  EXPECT_EQ(mask.cells, (std::vector<uint8_t>{0, 1, 0, 1, 0, 0}));
  // The scale of the weights does not matter.
  EXPECT_EQ(mask, otsu_mask(grid, std::vector<double>{1e-5, 9e-5, 1.2e-5, 8e-5, 1.1e-5, 1e-5}));
}

TEST(Otsu, EqualWeightsHaveNoForeground) {
  EXPECT_EQ(otsu_mask({2, 2}, std::vector<double>(4, 0.25)).count(), 0);
  EXPECT_EQ(otsu_level(std::vector<int64_t>(256)), 0);
}

TEST(CutWeights, ByMaximumKeepsCellsOfAShareOfIt) {
  const std::vector<double> weights = {0.4, 0.1, 0.09, 0.2};
  EXPECT_EQ(cut_weights({2, 2}, weights, {MaskCut::kMaximum, 0.25}).cells,
            (std::vector<uint8_t>{1, 1, 0, 1}));
  EXPECT_EQ(cut_weights({2, 2}, weights, {MaskCut::kMaximum, 0.5}).cells,
            (std::vector<uint8_t>{1, 0, 0, 1}));
  EXPECT_EQ(cut_weights({2, 2}, weights, {MaskCut::kMass, 0.5}).cells,
            (std::vector<uint8_t>{1, 0, 0, 0}));
  EXPECT_EQ(cut_weights({2, 2}, std::vector<double>(4), {MaskCut::kMaximum}).count(), 0);
}

TEST(CutWeights, RefusesWeightsThatAreNone) {
  for (const MaskCut cut : {MaskCut::kOtsu, MaskCut::kMass, MaskCut::kMaximum}) {
    EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "", [&] {
      cut_weights({2, 2}, std::vector<double>{1, 2, 3}, {cut});
    }));
    EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "", [&] {
      cut_weights({1, 2}, std::vector<double>{1, std::nan("")}, {cut});
    }));
  }
}

TEST(MaskRule, IsReadAsItIsWritten) {
  for (const char* text : {"otsu", "mass:0.6", "mass:0.8", "maximum:0.25", "maximum:1"}) {
    EXPECT_EQ(to_string(parse_mask_rule(text)), text);
  }
  EXPECT_EQ(to_string(parse_mask_rule("mass")), "mass:0.6");
  for (const char* text : {"", "mean", "mass:", "mass:0", "mass:1.5", "mass:x", "otsu:0.5", ":1"}) {
    EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "otsu", [&] { parse_mask_rule(text); }))
        << text;
  }
}

// PyTorch's rule in its own words: each output pixel looks up a place in the input.
double naive_bilinear(const std::vector<double>& values, int64_t rows, int64_t cols, double y,
                      double x) {
  const auto at = [&](int64_t r, int64_t c) {
    return values[static_cast<size_t>(std::clamp<int64_t>(r, 0, rows - 1) * cols +
                                      std::clamp<int64_t>(c, 0, cols - 1))];
  };
  y = std::max(0.0, y);
  x = std::max(0.0, x);
  const auto r = static_cast<int64_t>(y), c = static_cast<int64_t>(x);
  const double v = y - double(r), u = x - double(c);
  return (1 - v) * ((1 - u) * at(r, c) + u * at(r, c + 1)) +
         v * ((1 - u) * at(r + 1, c) + u * at(r + 1, c + 1));
}

TEST(PixelsAbove, BlendBetweenTheCentresOfCells) {
  std::mt19937 random(2);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> values(5 * 7);
  for (double& value : values) value = uniform(random);
  // 4.5 of the 5 rows lie over the picture: the last one reaches over its edge.
  const PixelMask mask = pixels_above({5, 7}, values, 0.1, {4.5, 7}, 33, 20);
  for (int64_t y = 0; y < 20; ++y) {
    for (int64_t x = 0; x < 33; ++x) {
      const double value = naive_bilinear(values, 5, 7, (double(y) + 0.5) * 4.5 / 20 - 0.5,
                                          (double(x) + 0.5) * 7 / 33 - 0.5);
      if (std::abs(value - 0.1) < 1e-9) continue;  // on the edge rounding decides
      EXPECT_EQ(mask.pixels[static_cast<size_t>(y * 33 + x)] != 0, value > 0.1) << x << "," << y;
    }
  }
}

TEST(PixelsAbove, RefuseGridsThatDoNotFit) {
  const std::vector<double> values(6);
  for (const GridCover cover : {GridCover{0, 3}, GridCover{2, 4}, GridCover{3, 3}}) {
    EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "", [&] {
      pixels_above({2, 3}, values, 0, cover, 10, 10);
    }));
  }
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "6", [&] {
    pixels_above({2, 2}, values, 0, {2, 2}, 10, 10);
  }));
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "0", [&] {
    pixels_above({2, 3}, values, 0, {2, 3}, 0, 10);
  }));
}

TEST(ToPixels, AWholeCellBecomesItsSquareWithRoundCorners) {
  GridMask mask({3, 3});
  mask.cells[4] = 1;
  const PixelMask pixels = to_pixels(mask, {3, 3}, 30, 30);
  EXPECT_EQ(pixels.pixels[15 * 30 + 15], 1);
  EXPECT_EQ(pixels.pixels[15 * 30 + 11], 1);
  EXPECT_EQ(pixels.pixels[15 * 30 + 5], 0);
  EXPECT_EQ(pixels.pixels[10 * 30 + 10], 0);  // the corner
  EXPECT_GT(pixels.count(), 50);
  EXPECT_LT(pixels.count(), 101);
}

TEST(Within, KeepsPixelsWhoseCentresAreInTheBox) {
  PixelMask mask(4, 3);
  std::ranges::fill(mask.pixels, uint8_t{1});
  const PixelMask cut = within(mask, {0.6, 1, 3.4, 2});
  EXPECT_EQ(cut.pixels, (std::vector<uint8_t>{0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0}));
  EXPECT_EQ(within(mask, {-5, -5, 50, 50}), mask);
}

TEST(MaskOfLogits, IsWhereTheProbabilityIsAboveOneHalf) {
  const PixelMask mask = mask_of_logits({1, 2}, std::vector<double>{-3, 1}, {1, 2}, 8, 1);
  // The logit crosses 0 at three quarters of the way between the centres, pixel 2 to 6.
  EXPECT_EQ(mask.pixels, (std::vector<uint8_t>{0, 0, 0, 0, 0, 1, 1, 1}));
}

}  // namespace
}  // namespace fovea
