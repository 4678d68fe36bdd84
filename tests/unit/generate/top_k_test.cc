#include "fovea/generate/top_k.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/random.h"

namespace fovea {
namespace {

TEST(TopScores, AreTheFirstOfTheSortedStream) {
  for (const size_t most : {1U, 2U, 7U, 40U, 60U}) {
    SCOPED_TRACE(most);
    std::vector<float> scores = support::random_floats(50, most);
    TopScores top(most);
    for (size_t i = 0; i < scores.size(); ++i) top.offer(scores[i], static_cast<int64_t>(i));
    const std::vector<Scored> found = top.take();
    ASSERT_EQ(found.size(), std::min<size_t>(most, 50));
    const std::vector<size_t> indices = best_of(scores, most);
    ASSERT_EQ(indices.size(), found.size());
    std::vector<float> sorted = scores;
    std::ranges::sort(sorted, std::greater{});
    for (size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i].score, sorted[i]);
      EXPECT_EQ(scores[static_cast<size_t>(found[i].index)], sorted[i]);
      EXPECT_EQ(scores[indices[i]], sorted[i]);
    }
  }
}

TEST(TopScores, OrderEqualScoresAsPartialSortDoes) {
  std::vector<float> scores;
  for (int i = 0; i < 600; ++i) scores.push_back(static_cast<float>((i * 37) % 5));
  std::vector<Scored> all;
  TopScores top(9);
  for (const float score : scores) {
    top.offer(score, std::ssize(all));
    all.push_back({score, std::ssize(all)});
  }
  std::partial_sort(all.begin(), all.begin() + 9, all.end(),
                    [](const Scored& a, const Scored& b) { return a.score > b.score; });
  const std::vector<Scored> found = top.take();
  for (size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i].index, all[i].index) << i;
}

TEST(TopScores, OfNothingAreNone) {
  EXPECT_TRUE(TopScores(3).take().empty());
  EXPECT_TRUE(best_of({}, 3).empty());
  EXPECT_TRUE(best_of(std::vector<float>{1, 2}, 0).empty());
}

}  // namespace
}  // namespace fovea
