#include "fovea/engine/position_kinds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fovea {
namespace {

using ::testing::ElementsAre;

// "Hi , you !" between two special tokens.
Axis sentence() {
  Axis axis{.name = "tokens", .source = "Hi, you!"};
  axis.positions = {{.text = "[CLS]", .special = true},
                    {.text = "hi", .source_begin = 0, .source_end = 2},
                    {.text = ",", .source_begin = 2, .source_end = 3},
                    {.text = "you", .source_begin = 4, .source_end = 7},
                    {.text = "!", .source_begin = 7, .source_end = 8},
                    {.text = "[SEP]", .special = true}};
  return axis;
}

TEST(PositionKinds, OfATextAreSpecialTokensAndPunctuation) {
  const PositionKinds kinds = text_kinds(sentence(), {1, 7, 8, 9, 10, 2});
  EXPECT_TRUE(kinds.in_line);
  EXPECT_THAT(kinds.ids, ElementsAre(1, 7, 8, 9, 10, 2));
  EXPECT_THAT(kinds.special, ElementsAre(1, 0, 0, 0, 0, 1));
  EXPECT_THAT(kinds.delimiter, ElementsAre(1, 0, 1, 0, 1, 1));
  EXPECT_TRUE(kinds.padding.empty());
}

TEST(PositionKinds, KnowPunctuationWithoutASource) {
  Axis axis{.name = "tokens"};
  axis.positions = {{.text = "cat"}, {.text = "…"}, {.text = "a."}, {.text = "，"}};
  EXPECT_THAT(text_kinds(axis, {}).delimiter, ElementsAre(0, 1, 0, 1));
}

TEST(PositionKinds, TellPaddingFromTheTokenThatEndsAText) {
  Axis axis{.name = "tokens"};
  axis.positions = {{.text = "cat"},
                    {.text = "</s>", .special = true},
                    {.text = "<pad>", .special = true},
                    {.text = "<pad>", .special = true}};
  EXPECT_THAT(text_kinds(axis, {5, 1, 0, 0}, 0).padding, ElementsAre(0, 0, 1, 1));
  // Where both are one token, the first is the end.
  EXPECT_THAT(text_kinds(axis, {5, 1, 1, 1}, 1).padding, ElementsAre(0, 0, 1, 1));
  // A text that fills its room has none.
  EXPECT_THAT(text_kinds(axis, {5, 6, 7, 1}, 0).padding, ElementsAre(0, 0, 0, 0));
}

TEST(PositionKinds, OfAPictureAreTokensInFrontAndCellsOfPadding) {
  Axis axis{.name = "patches", .grid_rows = 2, .grid_cols = 2};
  axis.positions = {{.text = "[CLS]", .special = true},
                    {.text = "patch 0,0"},
                    {.text = "patch 0,1", .special = true},
                    {.text = "patch 1,0"},
                    {.text = "patch 1,1", .special = true}};
  const PositionKinds kinds = picture_kinds(axis);
  EXPECT_FALSE(kinds.in_line);
  EXPECT_THAT(kinds.special, ElementsAre(1, 0, 0, 0, 0));
  EXPECT_THAT(kinds.delimiter, ElementsAre(1, 0, 0, 0, 0));
  EXPECT_THAT(kinds.padding, ElementsAre(0, 0, 1, 0, 1));
  EXPECT_EQ(kinds.picture->specials, 1);
  axis.positions.erase(axis.positions.begin());
  EXPECT_TRUE(picture_kinds(axis).delimiter.empty());  // no token in front
}

}  // namespace
}  // namespace fovea
