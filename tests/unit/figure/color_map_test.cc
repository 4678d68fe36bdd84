#include "fovea/figure/color_map.h"

#include <gmock/gmock.h>

#include <cmath>

#include "fovea/base/error.h"

namespace fovea {
namespace {

// CIE L*, 0 (black) to 100 (white).
double lightness(Rgb color) {
  const double y = 0.05 * contrast(color, {0, 0, 0}) - 0.05;  // the luminance
  return y <= 216.0 / 24389 ? y * 24389 / 27 : 116 * std::cbrt(y) - 16;
}

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

TEST(ColorMaps, LightnessGoesOneWayWhereTheMapIsUniform) {
  for (const std::string_view name : {"inferno", "cividis", "viridis", "paper"}) {
    const auto& table = color_map(name).table();
    const double direction = lightness(table.back()) > lightness(table.front()) ? 1 : -1;
    for (size_t i = 1; i < table.size(); ++i) {
      // Eight bits per channel cannot always make a step: half a unit of L* at most goes back.
      EXPECT_GE(direction * (lightness(table[i]) - lightness(table[i - 1])), -0.5) << name << i;
      if (i < 8) continue;
      EXPECT_GT(direction * (lightness(table[i]) - lightness(table[i - 8])), 0) << name << i;
    }
  }
}

TEST(ColorMaps, DifferencesFadeToGreyInTheMiddleFromBothSides) {
  const auto& table = color_map("RdBu").table();
  for (size_t i = 1; i < table.size(); ++i) {
    const double step = lightness(table[i]) - lightness(table[i - 1]);
    EXPECT_GE(i <= 127 ? step : -step, -0.5) << i;
  }
  const Rgb middle = color_map("RdBu").at(0.5);
  EXPECT_NEAR(middle.red, middle.blue, 4);
  EXPECT_NEAR(middle.red, middle.green, 4);
  EXPECT_GT(color_map("RdBu").at(1).red, color_map("RdBu").at(1).blue);  // warm is high
  EXPECT_NEAR(lightness(table.front()), lightness(table.back()), 5);
  EXPECT_TRUE(color_map("RdBu").diverging());
}

TEST(ColorMaps, AreCloseToThePublishedTables) {
  struct Known {
    std::string_view name;
    size_t index;
    Rgb color;
  };
  // Between our anchors; within 5 (viridis, turbo) and 9 (cividis) of 255.
  const Known known[] = {{"viridis", 60, {61, 78, 138}},
                         {"viridis", 128, {33, 145, 140}},
                         {"viridis", 200, {112, 207, 87}},
                         {"cividis", 128, {125, 124, 120}},
                         {"turbo", 128, {164, 252, 60}}};
  for (const Known& entry : known) {
    const Rgb ours = color_map(entry.name).table()[entry.index];
    const double tolerance = entry.name == "cividis" ? 9 : 5;
    EXPECT_NEAR(ours.red, entry.color.red, tolerance) << entry.name << entry.index;
    EXPECT_NEAR(ours.green, entry.color.green, tolerance) << entry.name << entry.index;
    EXPECT_NEAR(ours.blue, entry.color.blue, tolerance) << entry.name << entry.index;
  }
}

TEST(ColorMaps, AnUnknownNameIsToldAllOthers) {
  try {
    color_map("jet");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
    EXPECT_STREQ(error.what(),
                 "there is no colour map 'jet'; there are inferno, cividis, viridis, paper, RdBu, "
                 "ice-fire, turbo");
  }
  EXPECT_THAT(std::string(color_map("turbo").description()),
              testing::HasSubstr("not perceptually uniform"));
}

TEST(CategoryColors, ShowOnWhiteAndDiffer) {
  for (int64_t i = 0; i < 16; ++i) {
    EXPECT_GE(contrast(category_color(i), {255, 255, 255}), 1.9) << i;
    for (int64_t j = 0; j < i; ++j) EXPECT_NE(category_color(i), category_color(j));
  }
}

TEST(ObjectColors, DifferAndCarryBlackLetters) {
  for (int64_t i = 0; i < 16; ++i) {
    EXPECT_EQ(text_color_on(object_color(i)), (Rgb{0, 0, 0})) << i;
    EXPECT_GE(contrast(object_color(i), {0, 0, 0}), 4.5) << i;  // WCAG's limit for text
    for (int64_t j = 0; j < i; ++j) EXPECT_NE(object_color(i), object_color(j));
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
  for (const std::string_view name : color_map_names()) {
    for (const Rgb& color : color_map(name).table()) {
      EXPECT_GE(contrast(color, text_color_on(color)), 4.5) << name;
    }
  }
  EXPECT_NEAR(contrast({0, 0, 0}, {255, 255, 255}), 21, 1e-9);
}

}  // namespace
}  // namespace fovea
