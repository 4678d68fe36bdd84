#include "fovea/figure/map_drawing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "support/errors.h"
#include "support/runs.h"

namespace fovea {
namespace {

using ::testing::HasSubstr;

TEST(MapDrawing, ChoosesByTheSizeOfAMap) {
  EXPECT_TRUE(map_drawing({}, 24).is_plain());
  EXPECT_EQ(map_drawing({}, 25).curve, ScaleCurve::kSqrt);
  EXPECT_EQ(map_drawing({}, 64).of, MapValue::kWeight);
  EXPECT_EQ(map_drawing({}, 10, /*maps=*/2).curve, ScaleCurve::kSqrt);
  EXPECT_EQ(map_drawing({.range = parse_range("0:1")}, 64).curve, ScaleCurve::kLinear);
  const MapDrawing longer = map_drawing({}, 65);
  EXPECT_EQ(longer.of, MapValue::kTimesEven);
  EXPECT_EQ(longer.curve, ScaleCurve::kLog);
  EXPECT_TRUE(map_drawing({.exact = true}, 5000).is_plain());
  EXPECT_TRUE(map_drawing({.of = MapValue::kWeight}, 5000).is_plain());
  const MapDrawing largest = map_drawing({.largest = true}, 5000);
  EXPECT_EQ(largest.of, MapValue::kWeight);
  EXPECT_EQ(largest.merge, Merge::kMax);
  const ColorScale scale = scale_of(largest, std::vector<float>{0.1F, 0.9F});
  EXPECT_DOUBLE_EQ(scale.low, 1e-4);
  EXPECT_DOUBLE_EQ(scale.high, 1);
}

TEST(MapDrawing, WeightsEndAtARoundNumber) {
  EXPECT_DOUBLE_EQ(round_end(0.98), 1);
  EXPECT_DOUBLE_EQ(round_end(1.0000002), 1);
  EXPECT_DOUBLE_EQ(round_end(0.36), 0.4);
  EXPECT_DOUBLE_EQ(round_end(0.0021), 0.0025);
  EXPECT_DOUBLE_EQ(round_end(0.09), 0.1);
  EXPECT_DOUBLE_EQ(round_end(0), 1);
  for (double value = 1e-6; value < 100; value *= 1.03) {
    EXPECT_GE(round_end(value) * (1 + 1e-5), value);
    EXPECT_LE(round_end(value), 1.6 * value);
  }
}

TEST(MapDrawing, OverAPictureTheColoursEndAt8OrAt32) {
  const MapDrawing drawing = picture_drawing({});
  EXPECT_DOUBLE_EQ(scale_of(drawing, std::vector<float>{0.1F, 7.9F}).high, 8);
  const ColorScale far = scale_of(drawing, std::vector<float>{0.1F, 40});
  EXPECT_DOUBLE_EQ(far.high, 32);
  EXPECT_TRUE(far.above);
  EXPECT_FALSE(far.below);  // even or less has no colour, which is no arrow
  EXPECT_EQ(picture_drawing({.of = MapValue::kWeight}).of, MapValue::kWeight);
}

TEST(MapDrawing, TheSameTimesEvenIsTheSameColourInEveryMap) {
  const MapDrawing drawing = map_drawing({}, 100);
  const ColorScale dim = scale_of(drawing, std::vector<float>{0.5F, 1, 2});
  const ColorScale bright = scale_of(drawing, std::vector<float>{0.001F, 1, 900});
  EXPECT_EQ(dim.low, bright.low);
  EXPECT_EQ(dim.high, bright.high);
  EXPECT_FALSE(dim.above || dim.below);
  EXPECT_TRUE(bright.above && bright.below);
  EXPECT_EQ(colors_note(drawing, bright, std::vector<float>{0.001F, 1, 900}),
            " · log colours ÷32 to ×32, largest ×900");
}

TEST(MapDrawing, TakesValuesAndPercentilesAsEnds) {
  std::vector<float> values{std::nanf("")};
  for (int i = 0; i <= 1000; ++i) values.push_back(static_cast<float>(i) / 1000);
  const auto scale = [&](const char* range, ScaleCurve curve) {
    return scale_of(map_drawing({.curve = curve, .range = parse_range(range)}, 10), values);
  };
  const ColorScale plain = scale("0.1:0.5", ScaleCurve::kLinear);
  EXPECT_DOUBLE_EQ(plain.low, 0.1);
  EXPECT_DOUBLE_EQ(plain.high, 0.5);
  EXPECT_TRUE(plain.below && plain.above);
  const ColorScale percent = scale("1%:99%", ScaleCurve::kSqrt);
  EXPECT_NEAR(percent.low, 0.01, 1e-6);
  EXPECT_NEAR(percent.high, 0.99, 1e-6);
  EXPECT_FALSE(scale("0:1", ScaleCurve::kLinear).above);
  EXPECT_GT(scale("0%:100%", ScaleCurve::kLog).low, 0);  // a percentile that is 0 has no logarithm
}

TEST(MapDrawing, RefusesWhatDoesNotGoTogether) {
  EXPECT_THAT(message_of([] { parse_range("5"); }), HasSubstr("not LOW:HIGH"));
  EXPECT_THAT(message_of([] { parse_range("a:b"); }), HasSubstr("not LOW:HIGH"));
  EXPECT_THAT(message_of([] { parse_range("1%:101%"); }), HasSubstr("no percentile"));
  const auto refusal = [](const ViewChoice& choice) {
    return message_of([&] { scale_of(map_drawing(choice, 10), std::vector<float>{0, 1}); });
  };
  EXPECT_THAT(refusal({.of = MapValue::kScore, .curve = ScaleCurve::kLog}), HasSubstr("scores"));
  EXPECT_THAT(refusal({.of = MapValue::kTimesEven, .largest = true}), HasSubstr("is a weight"));
  EXPECT_THAT(refusal({.curve = ScaleCurve::kLog, .range = parse_range("0:1")}),
              HasSubstr("above 0"));
  EXPECT_THAT(refusal({.range = parse_range("2:1")}), HasSubstr("must rise"));
}

TEST(MapDrawing, IsSaidByEveryView) {
  std::vector<std::string> words;
  for (int i = 0; i < 70; ++i) words.push_back("w" + std::to_string(i));
  const fovea::Run run = support::text_run(words, 2, true);
  const MatrixFigure matrix = matrix_view(run, {});
  EXPECT_EQ(matrix.value_name, "weight, times even");
  EXPECT_THAT(matrix.text.caption, HasSubstr("divided by what even attention gives"));
  EXPECT_THAT(matrix.text.caption, HasSubstr("log colours ÷32 to ×32, largest ×"));
  EXPECT_EQ(matrix.text.metadata.at("of", "").as_string(""), "times-even");
  EXPECT_TRUE(heads_view(run, {}).scale.times_even);
  EXPECT_NEAR(double{matrix.weights.matrix<float>()(0, 0)}, 1, 1e-5);  // all that it may see
  const ReadFigure read = read_view(run, {.of = MapValue::kScore});
  EXPECT_THAT(read.text.caption, HasSubstr("score before softmax"));
  EXPECT_DOUBLE_EQ(read.scale.low, -read.scale.high);
  EXPECT_EQ(read_view(run, {}).value_name, "attention weight");
}

}  // namespace
}  // namespace fovea
