#include "fovea/render/heatmap.h"

#include <gmock/gmock.h>

#include <limits>

#include "fovea/base/error.h"

namespace fovea {
namespace {

MatrixView<const float> view(const std::vector<float>& values, int64_t rows, int64_t cols) {
  return {values.data(), rows, cols};
}

TEST(Heatmap, DrawsOneSquarePerEntry) {
  const std::vector<float> values{0, 1, 0.5F, 0};
  const RgbImage image = heatmap(view(values, 2, 2), {.cell = 16});
  EXPECT_EQ(image.width, 32);
  EXPECT_EQ(image.height, 32);
  EXPECT_EQ(image.at(0, 0), inferno().at(0));
  EXPECT_EQ(image.at(16, 0), inferno().at(1));
  EXPECT_EQ(image.at(31, 15), inferno().at(1));
  EXPECT_EQ(image.at(0, 16), inferno().at(0.5));
  EXPECT_EQ(image.at(16, 16), inferno().at(0));
}

TEST(Heatmap, ScalesFromLowToHigh) {
  const std::vector<float> values{10, 15, 20};
  const RgbImage image = heatmap(view(values, 1, 3), {.cell = 1, .low = 10, .high = 20});
  EXPECT_EQ(image.at(0, 0), inferno().at(0));
  EXPECT_EQ(image.at(1, 0), inferno().at(0.5));
  EXPECT_EQ(image.at(2, 0), inferno().at(1));
}

TEST(Heatmap, HatchesWhatIsNoNumberInGrey) {
  const std::vector<float> values{std::numeric_limits<float>::quiet_NaN()};
  const RgbImage image = heatmap(view(values, 1, 1), {.cell = 16});
  bool light = false;
  bool dark = false;
  for (int64_t x = 0; x < 16; ++x) {
    const Rgb color = image.at(x, 0);
    EXPECT_NEAR(color.red, color.green, 8);
    (lightness(color) > 85 ? light : dark) = true;
  }
  EXPECT_TRUE(light && dark);
}

TEST(Heatmap, RefusesAnEmptyScaleAndHugeMaps) {
  const std::vector<float> values{1};
  EXPECT_THROW(heatmap(view(values, 1, 1), {.low = 1, .high = 1}), Error);
  EXPECT_THROW(heatmap(view(values, 1, 1), {.cell = 0}), Error);
  EXPECT_THROW(heatmap({values.data(), int64_t{1} << 40, 1}, {}), Error);
}

TEST(HeatmapRow, SharesOneScaleAndKeepsSquaresReadable) {
  const std::vector<float> low{0.1F, 0.2F, 0.2F, 0.1F};
  const std::vector<float> high{0.4F, 0.1F, 0.1F, 0.4F};
  const std::vector<MatrixView<const float>> panels{view(low, 2, 2), view(high, 2, 2)};
  const RgbImage image = heatmap_row(panels);
  int64_t brightest = 0;
  for (int64_t y = 0; y < image.height; ++y) {
    for (int64_t x = 0; x < image.width / 2 - 32; ++x) {
      EXPECT_NE(image.at(x, y), inferno().at(1)) << "the left panel does not reach the top";
    }
    for (int64_t x = image.width / 2; x < image.width - 64; ++x) {
      brightest += image.at(x, y) == inferno().at(1) ? 1 : 0;
    }
  }
  EXPECT_GE(brightest, 2 * 16 * 16);
}

TEST(HeatmapRow, DrawsLargeMapsSmallerAndAllZerosDark) {
  const std::vector<float> zeros(200 * 300);
  const std::vector<MatrixView<const float>> panels{view(zeros, 200, 300)};
  const RgbImage image = heatmap_row(panels);
  EXPECT_LE(image.width, 2048 + 200);
  EXPECT_EQ(image.at(image.width / 2, image.height / 2), inferno().at(0));
}

TEST(HeatmapRow, RefusesNothingToDraw) {
  EXPECT_THROW(heatmap_row({}), Error);
}

TEST(RgbImage, RefusesSizesThatCannotBe) {
  EXPECT_THROW(RgbImage(-1, 4), Error);
  EXPECT_THROW(RgbImage(int64_t{1} << 40, int64_t{1} << 40), Error);
  RgbImage image(4, 4);
  EXPECT_THROW(image.paste(RgbImage(2, 2), 3, 0), Error);
}

}  // namespace
}  // namespace fovea
