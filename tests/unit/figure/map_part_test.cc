#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fovea/figure/view.h"
#include "support/errors.h"
#include "support/runs.h"

namespace fovea {
namespace {

using ::testing::HasSubstr;

fovea::Run hundred_words() {
  std::vector<std::string> words;
  for (int i = 0; i < 100; ++i) words.push_back("w" + std::to_string(i));
  return support::text_run(words, 2, true);
}

void expect_part(const Tensor& part, const Tensor& whole, int64_t row, int64_t col) {
  for (int64_t r = 0; r < part.size(0); ++r) {
    for (int64_t c = 0; c < part.size(1); ++c) {
      const float found = part.matrix<float>()(r, c);
      const float wanted = whole.matrix<float>()(row + r, col + c);
      ASSERT_EQ(std::isnan(found), std::isnan(wanted));
      if (!std::isnan(wanted)) {
        ASSERT_NEAR(found, wanted, 1e-5 * std::max(1.0F, wanted));
      }
    }
  }
}

TEST(MapPart, IsTheSameAsThatPlaceOfTheWholeMap) {
  const fovea::Run run = hundred_words();
  for (const MapValue of : {MapValue::kWeight, MapValue::kTimesEven, MapValue::kScore}) {
    const MatrixFigure whole = matrix_view(run, {.of = of});
    ViewChoice choice{.of = of, .rows = parse_part("rows", "40:70")};
    choice.cols = parse_part("cols", ":25");
    const MatrixFigure part = matrix_view(run, choice);
    ASSERT_EQ(part.weights.shape(), (Shape{30, 25}));
    expect_part(part.weights, whole.weights, 40, 0);
    EXPECT_EQ(part.rows.positions[0].text, "w40");
    EXPECT_EQ(part.row_place.of(2), 42);
    EXPECT_THAT(part.text.caption,
                HasSubstr("rows 40 to 69 of 100, columns 0 to 24 of 100, sums of those alone"));
    const HeadsFigure heads = heads_view(run, choice);
    ASSERT_EQ(heads.panels[1].weights.shape(), (Shape{30, 25}));
  }
}

TEST(MapPart, LiesAroundAToken) {
  const fovea::Run run = hundred_words();
  const MatrixFigure figure = matrix_view(run, {.token = "w50", .around = parse_around("w50:4")});
  EXPECT_EQ(figure.weights.shape(), (Shape{9, 9}));
  EXPECT_EQ(figure.rows.positions[4].text, "w50");
  EXPECT_EQ(figure.chosen_row, 4);
  EXPECT_EQ(matrix_view(run, {.around = parse_around("w3")}).weights.shape(), (Shape{36, 36}));
  const ReadFigure read = read_view(run, {.token = "w50", .around = parse_around("w50:4")});
  EXPECT_EQ(read.weights.size(), 9U);
  EXPECT_EQ(read.chosen, 4);
  EXPECT_EQ(read.weights[0], read_view(run, {.token = "w50"}).weights[46]);
  const LinesFigure lines = lines_view(run, {.token = "w50", .around = parse_around("w50:4")});
  EXPECT_EQ(lines.heads[0].weights.shape(), (Shape{9, 9}));
  EXPECT_THAT(lines.text.caption, HasSubstr("Row 50 \"w50\""));
}

TEST(MapPart, IsReadFromWhatAPersonWrites) {
  EXPECT_EQ(parse_part("rows", "3:").begin, 3);
  EXPECT_FALSE(parse_part("rows", "3:").end);
  EXPECT_EQ(parse_part("rows", ":9").end, 9);
  EXPECT_EQ(parse_around("a:b:7").token, "a:b");
  EXPECT_EQ(parse_around("a:b:7").reach, 7);
  EXPECT_EQ(parse_around("a:b").token, "a:b");
  EXPECT_EQ(parse_around(":").token, ":");
  EXPECT_EQ(parse_around("cat").reach, 32);
}

TEST(MapPart, RefusesWhatThereIsNot) {
  const fovea::Run run = hundred_words();
  for (const char* text : {"5", "a:b", "-1:3", "1:2:3"}) {
    EXPECT_THAT(message_of([&] { parse_part("rows", text); }), HasSubstr("is not A:B")) << text;
  }
  const auto refusal = [&](const ViewChoice& choice) {
    return message_of([&] { matrix_view(run, choice); });
  };
  EXPECT_THAT(refusal({.rows = AxisPart{90, 101}}), HasSubstr("which has 100 rows"));
  EXPECT_THAT(refusal({.cols = AxisPart{5, 5}}), HasSubstr("which has 100 columns"));
  EXPECT_THAT(refusal({.token = "w5", .rows = AxisPart{10, 20}}), HasSubstr("10 to 19 are shown"));
  EXPECT_THAT(message_of([] { parse_around("cat:-3"); }), HasSubstr("from 0"));
}

}  // namespace
}  // namespace fovea
