#include "fovea/figure/top_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/errors.h"
#include "support/runs.h"

namespace fovea {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> names_of(const TopList& list) {
  std::vector<std::string> names;
  for (const RankedWeight& weight : list.weights) names.push_back(weight.position.name);
  return names;
}

TEST(TopView, ListsTheLargestCellsOfTheMatrix) {
  const fovea::Run run = support::text_run({"[CLS]", "the", "cat", "the", "chas|ing"}, 3, true);
  for (const HeadChoice& head :
       {HeadChoice{HeadChoice::Kind::kOne, 1}, HeadChoice{HeadChoice::Kind::kMin, 0}}) {
    const MatrixFigure map = matrix_view(run, {.head = head});
    const TopLists lists = top_view(run, {.head = head}, 2);
    ASSERT_EQ(lists.lists.size(), 6U);
    EXPECT_EQ(lists.lists[0].weights.size(), 1U);
    EXPECT_EQ(lists.lists[3].position.name, "the·2");
    for (const TopList& list : lists.lists) {
      const float* row = map.weights.matrix<float>().row(list.position.index);
      double largest = 0;
      for (int64_t col = 0; col <= list.position.index; ++col) {
        largest = std::max(largest, double{row[col]});
      }
      EXPECT_NEAR(list.weights[0].weight, largest, 1e-6);
      EXPECT_NEAR(list.weights[0].times_even,
                  largest * static_cast<double>(list.position.index + 1), 1e-5);
    }
  }
}

TEST(TopView, ListsOneRowOrColumnOfTokensOrWords) {
  const fovea::Run run = support::text_run({"[CLS]", "the", "cat", "the", "chas|ing"}, 3, true);
  const TopLists row = top_view(run, {.token = "the·2"}, 9);
  ASSERT_EQ(row.lists.size(), 1U);
  EXPECT_EQ(row.lists[0].position.index, 3);
  EXPECT_EQ(row.lists[0].weights.size(), 4U);
  EXPECT_NEAR(row.lists[0].sum(), 1, 1e-5);
  EXPECT_THAT(row.figure.text.caption,
              HasSubstr("Row 3 \"the·2\" → the 4 that it attends to most"));
  const TopLists column = top_view(run, {.token = "cat", .column = true, .words = true}, 2);
  EXPECT_EQ(column.lists[0].weights.size(), 2U);
  EXPECT_THAT(column.figure.text.caption, HasSubstr("Column 2 \"cat\" ← the 2 that attend"));
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, Field{"column"}, "no token is chosen",
                         [&] { top_view(run, {.column = true}, 2); }));
}

TEST(TopView, OfAPartCountsInTheWholeMap) {
  const fovea::Run run = support::text_run({"a", "b", "a", "c", "a", "d"}, 2, false);
  ViewChoice part{.rows = parse_part("rows", "3:5")};
  part.cols = parse_part("cols", "2:");
  const TopLists lists = top_view(run, part, 4);
  ASSERT_EQ(lists.lists.size(), 2U);
  EXPECT_EQ(lists.lists[0].position.name, "c");
  EXPECT_EQ(lists.lists[1].position.name, "a·3");
  std::vector<std::string> names = names_of(lists.lists[0]);
  std::ranges::sort(names);
  EXPECT_THAT(names, ElementsAre("a·2", "a·3", "c", "d"));
  EXPECT_THAT(lists.figure.text.caption, HasSubstr("rows 3 to 4 of 6, columns 2 to 5 of 6"));
}

TEST(TopView, AFigureShowsTheFirstListsOfMany) {
  std::vector<std::string> words;
  for (int i = 0; i < 100; ++i) words.push_back("w" + std::to_string(i));
  const fovea::Run run = support::text_run(words, 2, true);
  EXPECT_EQ(top_view(run, {}, 2).lists.size(), kMostLists);
  const TopLists all = top_view(run, {.exact = true}, 2);
  EXPECT_EQ(all.lists.size(), 100U);
  EXPECT_EQ(all.figure.rows.size(), kMostLists);
  EXPECT_THAT(all.figure.text.caption, HasSubstr("the first 64 of 100 rows"));
}

}  // namespace
}  // namespace fovea
