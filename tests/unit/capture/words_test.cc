#include "fovea/capture/words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fovea/base/error.h"
#include "support/runs.h"

namespace fovea {
namespace {

using support::text_axis;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string token_refusal(const Axis& axis, const std::string& token) {
  try {
    token_named(axis, token);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(WordGroups, FollowTheWordsOfTheTokenizer) {
  const Axis axis = text_axis({"[CLS]", "un|believ|able", "cat", "[SEP]"});
  EXPECT_THAT(word_groups(axis), ElementsAre(PositionGroup{0, 1}, PositionGroup{1, 4},
                                             PositionGroup{4, 5}, PositionGroup{5, 6}));
  const Axis words = grouped_axis(axis, word_groups(axis));
  EXPECT_EQ(words.positions[1].text, "unbelievable");
  EXPECT_EQ(words.positions[1].source_begin, 0);
  EXPECT_EQ(words.positions[1].source_end, 12);
  EXPECT_TRUE(words.positions[0].special);
}

TEST(WordGroups, ComeFromTheTextWhereNoneAreStored) {
  Axis axis{.name = "tokens", .source = "don't panic!", .positions = {}};
  for (const auto& [begin, end] :
       {std::pair{0, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 8}, {8, 11}, {11, 12}}) {
    axis.positions.push_back({.text = axis.source.substr(size_t(begin), size_t(end - begin)),
                              .source_begin = begin,
                              .source_end = end});
  }
  // do n | ' | t | pa nic (with the space before) | !
  EXPECT_THAT(word_groups(axis),
              ElementsAre(PositionGroup{0, 2}, PositionGroup{2, 3}, PositionGroup{3, 4},
                          PositionGroup{4, 6}, PositionGroup{6, 7}));
  EXPECT_EQ(grouped_axis(axis, word_groups(axis)).positions[3].text, "panic");
}

TEST(WordGroups, PiecesOfOneCharacterStayTogether) {
  Axis axis{.name = "tokens", .source = "🙂", .positions = {}};
  for (int i = 0; i < 3; ++i) {
    axis.positions.push_back({.text = "⟨F0⟩", .source_begin = 0, .source_end = 4});
  }
  EXPECT_THAT(word_groups(axis), ElementsAre(PositionGroup{0, 3}));
  EXPECT_EQ(grouped_axis(axis, word_groups(axis)).positions[0].text, "🙂");
}

TEST(GroupedAxis, NamesABlockByItsEnds) {
  const Axis axis = text_axis({"a", "b", "c", "d", "e"});
  const Axis blocks = grouped_axis(axis, block_groups(axis, 2));
  ASSERT_EQ(blocks.positions.size(), 3U);
  EXPECT_EQ(blocks.positions[0].text, "a…b");
  EXPECT_EQ(blocks.positions[2].text, "e");
}

TEST(FindToken, TakesATextWithOrWithoutItsMarks) {
  Axis axis = text_axis({"[CLS]", "chas|ing", "it"});
  axis.positions[3].text = "·it";
  EXPECT_EQ(token_named(axis, "chas").index, 1);
  EXPECT_EQ(token_named(axis, "ing").index, 2);
  EXPECT_EQ(token_named(axis, "‿ing").index, 2);
  EXPECT_EQ(token_named(axis, "it").index, 3);
  EXPECT_EQ(token_named(axis, "[CLS]").index, 0);
  EXPECT_EQ(token_named(axis, "0").index, 0);
  const FoundToken word = token_named(axis, "chasing");
  EXPECT_EQ(word.index, 2);
  EXPECT_EQ(word.note, "the last of 2 pieces of \"chasing\"");
  EXPECT_THAT(token_refusal(axis, "It"), HasSubstr("'It' is none of the 4 tokens"));
}

TEST(FindToken, SaysWhereAWordOccursMoreThanOnce) {
  const Axis axis = text_axis({"ab|c", "7", "ab|c", "7"});
  EXPECT_THAT(token_refusal(axis, "abc"), HasSubstr("occurs 2 times, at 1, 4"));
  EXPECT_THAT(token_refusal(axis, "7"), HasSubstr("at #2, #5"));
  EXPECT_EQ(token_named(axis, "#5").index, 5);
  std::vector<std::string> many(20, "x");
  EXPECT_THAT(token_refusal(text_axis(many), "x"),
              HasSubstr("20 times, at 0, 1, 2, 3, 4, 5, 6, 7, 8, "
                        "9, 10, 11, …"));
}

TEST(NumberedLabels, TellPositionsOfOneNameApart) {
  const Axis axis{
      .name = "tokens",
      .positions = {{.text = "the"}, {.text = "·cat"}, {.text = "·the"}, {.text = "the"}}};
  EXPECT_EQ(numbered_labels(axis), (std::vector<std::string>{"the", "cat", "the·2", "the·3"}));
  EXPECT_EQ(token_named(axis, "the·1").index, 0);
  EXPECT_EQ(token_named(axis, "the·3").index, 3);
  EXPECT_EQ(token_named(axis, "cat·1").index, 1);
  EXPECT_THROW(token_named(axis, "the·4"), Error);
  EXPECT_THROW(token_named(axis, "the·0"), Error);
  EXPECT_THROW(token_named(axis, "dog·1"), Error);
}

TEST(FindWord, TakesAWordOrOneOfItsPieces) {
  const Axis axis = text_axis({"[CLS]", "chas|ing", "it"});
  const auto groups = word_groups(axis);
  EXPECT_EQ(word_named(axis, groups, "chasing").index, 1);
  const FoundToken piece = word_named(axis, groups, "ing");
  EXPECT_EQ(piece.index, 1);
  EXPECT_EQ(piece.note, "the word \"chasing\", of which \"ing\" is a piece");
  EXPECT_EQ(word_named(axis, groups, "2").index, 2);
}

}  // namespace
}  // namespace fovea
