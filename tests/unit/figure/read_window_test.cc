#include "fovea/figure/read_window.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "fovea/figure/view.h"
#include "support/runs.h"

namespace fovea {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

fovea::Run long_text(int count) {
  std::vector<std::string> words;
  for (int i = 0; i < count; ++i) words.push_back(i % 2 == 0 ? "the" : "w" + std::to_string(i));
  return support::text_run(words, 2, true);
}

std::vector<float> allowed(int64_t count, int64_t begin, int64_t end) {
  std::vector<float> weights(static_cast<size_t>(count), std::nanf(""));
  std::fill(weights.begin() + begin, weights.begin() + end, 0.0F);
  return weights;
}

TEST(ReadWindow, LiesAroundTheTokenAndWithinTheText) {
  EXPECT_EQ(read_window(7, allowed(kLongestRead, 0, kLongestRead)),
            (PositionGroup{0, kLongestRead}));
  EXPECT_EQ(read_window(3000, allowed(7639, 0, 7639)), (PositionGroup{2872, 3129}));
  EXPECT_EQ(read_window(3, allowed(7639, 0, 7639)), (PositionGroup{0, 257}));
  EXPECT_EQ(read_window(7638, allowed(7639, 0, 7639)), (PositionGroup{7382, 7639}));
}

TEST(ReadWindow, ShowsLittleOfWhatTheMaskForbids) {
  EXPECT_EQ(read_window(3000, allowed(7639, 0, 3001)), (PositionGroup{2760, 3017}));
  EXPECT_EQ(read_window(3000, allowed(7639, 3000, 7639)), (PositionGroup{2984, 3241}));
  // A window of attention that is shorter than what is shown.
  EXPECT_EQ(read_window(3000, allowed(7639, 2950, 3001)), (PositionGroup{2934, 3191}));
  EXPECT_EQ(read_window(3000, allowed(7639, 0, 0)), (PositionGroup{3000, 3257}));
}

TEST(ReadWindow, SaysWhatLiesOutside) {
  const Axis axis{.name = "tokens",
                  .positions = {{.text = "a"}, {.text = "the"}, {.text = "b"}, {.text = "the"}}};
  const std::vector<float> weights{0.5F, 0.125F, 0.25F, 0.125F};
  EXPECT_EQ(outside_note(axis, weights, {0, 4}), "");
  EXPECT_EQ(outside_note(axis, weights, {2, 3}),
            " · outside of what is shown: 75 % of the weight, most on 0 \"a\" 0.5, 1 \"the\" 0.12, "
            "3 \"the·2\" 0.12");
  const std::vector<float> hidden{0.0F, 0.0F, 1.0F, std::nanf("")};
  EXPECT_EQ(outside_note(axis, hidden, {2, 3}), " · outside of what is shown: 0 % of the weight");
}

TEST(ReadWindow, OfALongTextIsShownAlone) {
  const fovea::Run run = long_text(500);
  const ReadFigure whole = read_view(run, {.token = "#250", .exact = true});
  EXPECT_EQ(whole.weights.size(), 500U);
  EXPECT_THAT(whole.text.caption, Not(HasSubstr("outside")));
  const ReadFigure part = read_view(run, {.token = "#250"});
  ASSERT_EQ(std::ssize(part.weights), kReadWindow);
  EXPECT_EQ(part.place.first, 10);
  EXPECT_EQ(part.chosen, 240);
  double outside = 0;
  for (size_t i = 0; i < whole.weights.size(); ++i) {
    const auto at = static_cast<int64_t>(i) - part.place.first;
    if (at >= 0 && at < std::ssize(part.weights)) {
      const float found = part.weights[static_cast<size_t>(at)];
      EXPECT_EQ(std::isnan(found), std::isnan(whole.weights[i]));
      if (!std::isnan(found)) {
        EXPECT_EQ(found, whole.weights[i]);
      }
    } else if (!std::isnan(whole.weights[i])) {
      outside += double{whole.weights[i]};
    }
  }
  EXPECT_THAT(part.text.caption, HasSubstr("columns 10 to 266 of 500, sums of those alone"));
  EXPECT_THAT(
      part.text.caption,
      HasSubstr(fmt::format("outside of what is shown: {:.0f} % of the weight", 100 * outside)));
  // What is drawn may be something else: the note tells weights.
  const ReadFigure even = read_view(run, {.token = "#250", .of = MapValue::kTimesEven});
  EXPECT_THAT(
      even.text.caption,
      HasSubstr(fmt::format("outside of what is shown: {:.0f} % of the weight", 100 * outside)));
  const ReadFigure asked = read_view(run, {.token = "#250", .cols = parse_part("cols", "0:9")});
  EXPECT_EQ(asked.weights.size(), 9U);
  EXPECT_EQ(asked.chosen, -1);
  const ReadFigure column = read_view(run, {.token = "#250", .column = true});
  EXPECT_EQ(std::ssize(column.weights), kReadWindow);
  EXPECT_THAT(column.text.caption, HasSubstr("rows 234 to 490 of 500"));
}

}  // namespace
}  // namespace fovea
