// The parts that figures are laid out with.
#include <gmock/gmock.h>

#include <functional>

#include "fovea/base/error.h"
#include "fovea/figure/contour.h"
#include "fovea/figure/running_text.h"
#include "fovea/render/axis_labels.h"
#include "fovea/render/color_bar.h"
#include "fovea/render/figure_file.h"
#include "fovea/render/fonts.h"
#include "unit/figure/figure_samples.h"

namespace fovea {
namespace {

using ::testing::ElementsAre;

TEST(LabelledPositions, AreAllWhileThereIsRoom) {
  EXPECT_EQ(labelled_positions(60, 8, std::nullopt).size(), 60U);
}

TEST(LabelledPositions, AreEveryKthInSmallCells) {
  EXPECT_THAT(labelled_positions(45, 1.1, std::nullopt), ElementsAre(0, 10, 20, 30, 40));
  EXPECT_THAT(labelled_positions(9, 7, std::nullopt), ElementsAre(0, 2, 4, 6, 8));
  EXPECT_THAT(labelled_positions(4096, 1000.0 / 4096, std::nullopt).size(), 82);
}

TEST(LabelledPositions, HaveTheChosenOneInPlaceOfItsNeighbours) {
  EXPECT_THAT(labelled_positions(45, 1.1, 12), ElementsAre(0, 12, 30, 40));
  EXPECT_THAT(labelled_positions(45, 1.1, 44), ElementsAre(0, 10, 20, 30, 44));
}

TEST(RowLabels, SayWhereARowLiesInTheWholeMap) {
  const Axis axis{.name = "tokens", .positions = {{.text = "a"}, {.text = "b"}, {.text = "c"}}};
  // Below 8 units a name stands beside its number: 0, or 1234567 in a part that begins there.
  const double near = RowLabels(axis, 2, std::nullopt).width();
  EXPECT_GT(RowLabels(axis, 2, std::nullopt, {.first = 1'234'567}).width(), near + 20);
  EXPECT_EQ(RowLabels(axis, 12, std::nullopt, {.first = 1'234'567}).width(),
            RowLabels(axis, 12, std::nullopt).width());
}

TEST(RoundTicks, LieWithinTheRange) {
  EXPECT_THAT(round_ticks(0, 1, 5),
              ElementsAre(0, testing::DoubleNear(0.2, 1e-12), testing::DoubleNear(0.4, 1e-12),
                          testing::DoubleNear(0.6, 1e-12), testing::DoubleNear(0.8, 1e-12), 1));
  for (const double high : {1e-7, 0.013, 0.37, 5.0, 1234.0, 3e9}) {
    const std::vector<double> ticks = round_ticks(-high / 3, high, 4);
    EXPECT_GE(ticks.size(), 2U) << high;
    EXPECT_LE(ticks.size(), 9U) << high;
    EXPECT_GE(ticks.front(), -high / 3 * 1.001);
    EXPECT_LE(ticks.back(), high * 1.001);
  }
}

TEST(TickText, HasAsManyDigitsAsTheStepNeeds) {
  EXPECT_EQ(tick_text(0.25, 0.05), "0.25");
  EXPECT_EQ(tick_text(0.5, 0.5), "0.5");
  EXPECT_EQ(tick_text(3, 1), "3");
  EXPECT_EQ(tick_text(-0.5, 0.5), "\u22120.5");
  EXPECT_EQ(tick_text(-0.0, 0.1), "0.0");
}

TEST(ColorAxis, TakesDifferencesSymmetricAboutZero) {
  const ColorAxis axis(color_map("RdBu"), {-0.1, 0.4});
  EXPECT_EQ(axis.low(), -0.4);
  EXPECT_EQ(axis.at(0), color_map("RdBu").at(0.5));
}

TEST(ColorAxis, RefusesARangeThatIsNone) {
  EXPECT_THROW(ColorAxis(inferno(), {1, 0}), Error);
  EXPECT_THROW(ColorAxis(inferno(), {0, std::numeric_limits<double>::infinity()}), Error);
}

TEST(RunningText, KeepsTheSourceAndFindsEachWord) {
  const RunningText text = running_text(samples::words({"[CLS]", "The", "cat", "[SEP]"}));
  EXPECT_EQ(text.text, "\ufffcThe cat\ufffc");
  EXPECT_TRUE(text.places[0].chip);
  EXPECT_EQ(text.text.substr(text.places[1].begin, 3), "The");
  EXPECT_EQ(text.text.substr(text.places[2].begin, text.places[2].end - text.places[2].begin),
            "cat");
  EXPECT_TRUE(text.places[3].chip);
}

TEST(RunningText, TrimsSpacesAndShowsBareOnesAsChips) {
  Axis axis{.name = "tokens", .source = "a b\n\nc"};
  axis.positions = {{"a", 0, 1}, {"\u00b7b", 1, 3}, {"\u21b52", 3, 5}, {"c", 5, 6}};
  const RunningText text = running_text(axis);
  EXPECT_EQ(text.text, "a b\n\n\ufffcc");
  EXPECT_EQ(text.places[1].begin, 2U);
  EXPECT_EQ(text.places[1].end, 3U);
  EXPECT_TRUE(text.places[2].chip);
}

TEST(RunningText, BytePiecesShareTheirCharacter) {
  Axis axis{.name = "tokens", .source = "x\U0001f600"};
  axis.positions = {{"x", 0, 1}, {"F0 9F", 1, 3}, {"98", 3, 4}, {"80", 4, 5}};
  const RunningText text = running_text(axis);
  for (const int part : {0, 1, 2}) {
    const TextPlace& place = text.places[static_cast<size_t>(part) + 1];
    EXPECT_EQ(place.begin, 1U);
    EXPECT_EQ(place.end, 5U);
    EXPECT_EQ(place.part, part);
    EXPECT_EQ(place.parts, 3);
  }
}

TEST(RunningText, UsesTheNamesWhereTheSourceDoesNotFit) {
  Axis axis{.name = "tokens", .source = "ab"};
  axis.positions = {{"one", 0, 9}, {"two", 3, 1}};
  EXPECT_EQ(running_text(axis).text, "one two");
  axis.source = "\xff\xfe";
  axis.positions = {{"one", 0, 1}, {"two", 1, 2}};
  EXPECT_EQ(running_text(axis).text, "one two");
}

TEST(Contour, HoldsTheFewestCellsWithTheMass) {
  const std::vector<float> values = {0.4F, 0.1F, samples::kForbidden, 0.3F, 0.2F, 0};
  const MatrixView<const float> weights(values.data(), 2, 3);
  EXPECT_THAT(cells_with_mass(weights, 0.5), ElementsAre(true, false, false, true, false, false));
  EXPECT_THAT(cells_with_mass(weights, 1), ElementsAre(true, true, false, true, true, false));
}

TEST(Contour, GoesAroundThoseCells) {
  const std::vector<float> values = {0.4F, 0.1F, 0, 0.3F, 0.2F, 0};
  double length = 0;
  for (const auto& line : mass_contour({values.data(), 2, 3}, 0.5)) {
    ASSERT_EQ(line.size(), 2U);
    length += std::abs(line[1].x - line[0].x) + std::abs(line[1].y - line[0].y);
  }
  EXPECT_EQ(length, 6);  // around one column of two cells
}

TEST(Fonts, TheShippedOneHasWhatFiguresSay) {
  EXPECT_TRUE(
      shipped_font_covers("Row 5 \u2192 \u2190 \u00b7 \u00d7 \u2212 \u221a \u2423 \u21b5 \u21e5 "
                          "\u2026 \u00e9 \u0416 \u03b1"));
  EXPECT_FALSE(shipped_font_covers("\u4eca\u5929"));
}

TEST(TextBlock, IsWiderTheMoreItHoldsAndElidesAboveTheLimit) {
  const TextStyle style;
  const double all = TextBlock::line("attention", style).width();
  EXPECT_GT(all, TextBlock::line("atten", style).width());
  EXPECT_GT(TextBlock::line("attention", {.size = 11, .strong = true}).width(), all);
  EXPECT_LE(TextBlock::line("attention", style, 30).width(), 30);
  EXPECT_EQ(TextBlock::line("attention", style, 300).width(), all);
}

// What fonts lack is refused by name; everything else is laid out.
double height_or_refused(const std::function<TextBlock()>& make) {
  try {
    return make().height();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kNotFound);
    EXPECT_NE(std::string(error.what()).find("apt install fonts-noto-"), std::string::npos);
    return 1;
  }
}

TEST(TextBlock, TakesAnyScriptAndAnyBytes) {
  for (const std::string text :
       {"\u4eca\u5929", "\u0645\u0631\u062d\u0628\u0627", "\u05e9\u05dc\u05d5\u05dd",
        "\U0001f468\u200d\U0001f469\u200d\U0001f467", "e\u0301\u0323", "\xff\xc3\x28", "a\nb\tc",
        "", "\u202e\u2066", "\U0010ffff"}) {
    EXPECT_GE(height_or_refused([&] { return TextBlock::line(text, {}); }), 1) << text;
    EXPECT_GE(height_or_refused([&] { return TextBlock::paragraph(text, {}, 40); }), 1) << text;
    EXPECT_GE(height_or_refused([&] { return TextBlock::stacked(text, {}); }), 1) << text;
  }
  // A private character has no letter anywhere: it is written out.
  EXPECT_GT(TextBlock::line("\ue000", {}).width(), TextBlock::line("U+", {}).width());
  const std::string with_zero("a\0b", 3);
  EXPECT_GT(TextBlock::line(with_zero, {}).width(), TextBlock::line("a", {}).width());
}

TEST(TextBlock, StackingKeepsCharactersWhole) {
  const TextStyle style;
  const double line = TextBlock::line("a", style).height();
  EXPECT_LT(TextBlock::stacked("e\u0301", style).height(), 1.5 * line);
  EXPECT_GT(TextBlock::stacked("abc", style).height(), 2.5 * line);
}

TEST(TextBlock, WideCharactersStandUpright) {
  EXPECT_TRUE(is_upright_script("\u4eca\u5929"));
  EXPECT_TRUE(is_upright_script("\u3072\u3089\uff0c"));
  EXPECT_TRUE(is_upright_script("\ud55c\uad6d"));
  EXPECT_TRUE(is_upright_script("\U0001f468\u200d\U0001f469"));
  EXPECT_FALSE(is_upright_script("cat"));
  EXPECT_FALSE(is_upright_script("."));
  EXPECT_FALSE(is_upright_script(""));
}

}  // namespace
}  // namespace fovea
