#include "fovea/render/color_map.h"

#include <gmock/gmock.h>

#include <cmath>

namespace fovea {
namespace {

TEST(Inferno, GetsLighterAtEveryStep) {
  const auto& table = inferno().table();
  for (size_t i = 1; i < table.size(); ++i) {
    EXPECT_GT(lightness(table[i]), lightness(table[i - 1])) << i;
  }
}

TEST(Inferno, RunsFromNearBlackToPaleYellow) {
  EXPECT_EQ(inferno().at(0), (Rgb{0, 0, 4}));
  EXPECT_EQ(inferno().at(1), (Rgb{252, 255, 164}));
}

TEST(Inferno, IsCloseToThePublishedTable) {
  // Entries of the original (CC0) that lie between our anchors. The curve keeps within 4 / 255.
  struct Known {
    size_t index;
    Rgb color;
  };
  const Known known[] = {{9, {4, 3, 20}},       {40, {47, 10, 91}},    {80, {113, 25, 110}},
                         {128, {188, 55, 84}},  {160, {228, 90, 49}},  {200, {251, 157, 7}},
                         {225, {248, 205, 55}}, {247, {243, 245, 134}}};
  for (const Known& entry : known) {
    const Rgb ours = inferno().table()[entry.index];
    EXPECT_NEAR(ours.red, entry.color.red, 4) << entry.index;
    EXPECT_NEAR(ours.green, entry.color.green, 4) << entry.index;
    EXPECT_NEAR(ours.blue, entry.color.blue, 4) << entry.index;
  }
}

TEST(ColorMap, ClampsWhatLiesOutsideAndTakesNaNAsLowest) {
  EXPECT_EQ(inferno().at(-3), inferno().at(0));
  EXPECT_EQ(inferno().at(7), inferno().at(1));
  EXPECT_EQ(inferno().at(std::nan("")), inferno().at(0));
}

TEST(Lightness, IsZeroForBlackAndHundredForWhite) {
  EXPECT_NEAR(lightness({0, 0, 0}), 0, 1e-9);
  EXPECT_NEAR(lightness({255, 255, 255}), 100, 1e-2);  // the sRGB coefficients have four digits
  EXPECT_NEAR(lightness({119, 119, 119}), 50, 0.1);    // middle grey, by its definition
}

TEST(TextColor, ContrastsWithItsBackground) {
  for (const Rgb& color : inferno().table()) {
    const double difference = std::abs(lightness(color) - lightness(text_color_on(color)));
    EXPECT_GE(difference, 49.9);
  }
}

}  // namespace
}  // namespace fovea
