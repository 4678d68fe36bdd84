#include "fovea/figure/color_axis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "fovea/base/error.h"
#include "support/errors.h"

namespace fovea {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> texts_of(const std::vector<ColorTick>& ticks) {
  std::vector<std::string> texts;
  for (const ColorTick& tick : ticks) texts.push_back(tick.text);
  return texts;
}

const ColorScale kEven{1.0 / 32, 32, ScaleCurve::kLog, /*times_even=*/true};

TEST(ColorAxis, ValuesAndPlacesAreInverseOnEveryCurve) {
  for (const ColorScale& scale :
       {ColorScale{0, 0.7}, ColorScale{-2, 2}, ColorScale{0, 0.7, ScaleCurve::kSqrt},
        ColorScale{0.1, 3, ScaleCurve::kSqrt}, ColorScale{1e-5, 1, ScaleCurve::kLog}, kEven}) {
    EXPECT_NEAR(place_on(scale, scale.low), 0, 1e-12);
    EXPECT_NEAR(place_on(scale, scale.high), 1, 1e-12);
    for (double place = 0; place <= 1; place += 1.0 / 64) {
      EXPECT_NEAR(place_on(scale, value_at(scale, place)), place, 1e-9);
    }
  }
}

TEST(ColorAxis, FollowsTheFormulasOfItsCurves) {
  EXPECT_NEAR(place_on({0, 0.5, ScaleCurve::kSqrt}, 0.125), 0.5, 1e-12);
  EXPECT_NEAR(place_on({1e-4, 1, ScaleCurve::kLog}, 0.01), 0.5, 1e-12);
  EXPECT_NEAR(place_on(kEven, 1), 0.5, 1e-12);
  EXPECT_NEAR(place_on(kEven, 4), std::log(32.0 * 4) / std::log(32.0 * 32), 1e-12);
  EXPECT_LT(place_on(kEven, 0), 0);  // no weight at all is below every end
}

// One colour step of 256 is what a bar and a cell may differ by.
TEST(ColorAxis, TicksStandWhereTheirValuesAreOnTheBar) {
  const ColorMap& colors = color_map("paper");
  for (const ColorScale& scale :
       {ColorScale{0, 0.37}, ColorScale{0, 0.8, ScaleCurve::kSqrt},
        ColorScale{1e-5, 1, ScaleCurve::kLog}, ColorScale{0.02, 0.9, ScaleCurve::kLog}}) {
    const ColorAxis axis(colors, scale);
    const std::vector<ColorTick> ticks = axis.ticks(6);
    ASSERT_GE(ticks.size(), 3U);
    for (const ColorTick& tick : ticks) {
      EXPECT_GE(tick.place, -1e-6);
      EXPECT_LE(tick.place, 1 + 1e-6);
      const double value = std::stod(tick.text);
      EXPECT_NEAR(axis.position(value), tick.place, 1.0 / 256) << tick.text;
    }
  }
}

TEST(ColorAxis, TellsHowManyTimesEven) {
  const ColorAxis axis(color_map("paper"), kEven);
  EXPECT_THAT(texts_of(axis.ticks(6)), ElementsAre("÷32", "÷10", "even", "×10", "×32"));
  EXPECT_TRUE(axis.ticks(6)[2].strong);
  EXPECT_EQ(scale_text(kEven, 150.4), "×150");
  EXPECT_EQ(scale_text(kEven, 0.04), "÷25");
  EXPECT_EQ(scale_text({}, 1e-5), "1e-5");
  EXPECT_EQ(scale_text({}, -0.25), "\u22120.25");
  EXPECT_THAT(texts_of(ColorAxis(color_map("paper"), {1e-5, 1, ScaleCurve::kLog}).ticks(7)),
              ElementsAre("1e-5", "0.0001", "0.001", "0.01", "0.1", "1"));
  EXPECT_EQ(name_of(ScaleCurve::kLog), "log");
}

TEST(ColorAxis, BeginsAtEvenOverAPicture) {
  const ColorScale far{1, 32, ScaleCurve::kLog, /*times_even=*/true};
  EXPECT_THAT(texts_of(ColorAxis(color_map("inferno"), far).ticks(5)),
              ElementsAre("even or less", "×2", "×5", "×10", "×32"));
  const ColorScale near{1, 8, ScaleCurve::kLog, /*times_even=*/true};
  EXPECT_THAT(texts_of(ColorAxis(color_map("inferno"), near).ticks(5)),
              ElementsAre("even or less", "×2", "×4", "×8"));
}

TEST(ColorAxis, GoesBothWaysFromASmallSize) {
  const ColorScale scale{.low = -2.4, .high = 2.4, .curve = ScaleCurve::kSignedLog, .least = 0.075};
  const ColorAxis axis(color_map("ice-fire"), scale);
  EXPECT_DOUBLE_EQ(axis.position(0), 0.5);
  EXPECT_DOUBLE_EQ(axis.position(-0.07), 0.5);
  EXPECT_DOUBLE_EQ(axis.position(2.4), 1);
  EXPECT_DOUBLE_EQ(axis.position(-2.4), 0);
  for (const double place : {0.0, 0.2, 0.4, 0.6, 0.9, 1.0}) {
    EXPECT_NEAR(axis.position(value_at(scale, place)), place, 1e-12);
  }
  EXPECT_DOUBLE_EQ(value_at(scale, 0.5), 0);
  const std::vector<std::string> texts = texts_of(axis.ticks(7));
  EXPECT_THAT(texts, testing::Contains("±0.075 or less"));
  EXPECT_THAT(texts, testing::Contains("+1"));
  EXPECT_THAT(texts, testing::Contains("−1"));
  EXPECT_THAT(message_of([&] {
                ColorAxis(color_map("ice-fire"),
                          {.low = -1, .high = 2, .curve = ScaleCurve::kSignedLog, .least = 1});
              }),
              HasSubstr("equally far from 0"));
}

TEST(ColorAxis, RefusesLogarithmsOfNothing) {
  const auto axis = [](ColorScale scale) { return ColorAxis(color_map("paper"), scale); };
  EXPECT_THAT(message_of([&] { axis({0, 1, ScaleCurve::kLog}); }), HasSubstr("above 0"));
  EXPECT_THAT(message_of([&] { axis({2, 1}); }), HasSubstr("from 2 to 1"));
  // Linear differences are symmetric on a map whose middle is zero; the middle of ÷32 to ×32 is 1.
  EXPECT_DOUBLE_EQ(ColorAxis(color_map("RdBu"), {-0.1, 0.4}).low(), -0.4);
  EXPECT_DOUBLE_EQ(ColorAxis(color_map("RdBu"), kEven).position(1), 0.5);
}

}  // namespace
}  // namespace fovea
