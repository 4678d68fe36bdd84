#include "fovea/generate/word_scores.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/errors.h"
#include "support/random.h"

namespace fovea {
namespace {

TEST(WordScores, TheFirstOfEqualBestWordsIsTheBest) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(best_word(std::vector<float>{1, 3, 2, 3}), 1);
  EXPECT_EQ(best_word(std::vector<float>{-kInfinity, -2}), 1);
  EXPECT_EQ(best_word(std::vector<float>{-kInfinity, -kInfinity}), -1);
}

TEST(WordScores, LogSoftmaxIsThatOfDoubles) {
  for (const float shift : {0.0f, -3000.0f, 3000.0f}) {
    std::vector<float> scores = support::random_floats(1000, /*seed=*/3, /*deviation=*/5);
    for (float& score : scores) score += shift;
    double sum = 0;
    for (const float score : scores) sum += std::exp(static_cast<double>(score - shift));
    Tensor tensor = Tensor::from<float>({2, 500}, scores);
    std::vector<float> found = scores;
    std::vector<float> scratch;
    log_softmax(found, scratch);
    for (size_t i = 0; i < found.size(); ++i) {
      const double expected = static_cast<double>(scores[i] - shift) - std::log(sum);
      EXPECT_NEAR(found[i], expected, 4e-6);  // two roundings of numbers below 40
    }
    EXPECT_EQ(score_row(tensor, 1)[0], scores[500]);
  }
}

TEST(WordScores, WithoutAnyWordThereIsNoLogSoftmax) {
  std::vector<float> none(3, -std::numeric_limits<float>::infinity()), scratch;
  EXPECT_TRUE(
      fails_with(ErrorKind::kBadFile, "not all finite", [&] { log_softmax(none, scratch); }));
}

}  // namespace
}  // namespace fovea
