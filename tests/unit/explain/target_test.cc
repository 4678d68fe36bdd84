#include "fovea/explain/target.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/base/error.h"
#include "support/errors.h"

namespace fovea {
namespace {

SubjectOutput classes() {
  return {.logits = Tensor::from(Shape{3}, std::vector<float>{1, 2, 4})};
}

TEST(Target, IsALogitOrAProbability) {
  const double sum = std::exp(1.0) + std::exp(2.0) + std::exp(4.0);
  EXPECT_DOUBLE_EQ(target_value(ClassTarget{1}, classes(), TargetMeasure::kLogit), 2);
  EXPECT_NEAR(target_value(ClassTarget{1}, classes(), TargetMeasure::kProbability),
              std::exp(2.0) / sum, 1e-12);
  EXPECT_NEAR(target_value(ClassTarget{1}, classes(), TargetMeasure::kProbability, true),
              1 / (1 + std::exp(-2.0)), 1e-12);
}

TEST(Probabilities, AreASoftmaxThatOverflowsNowhere) {
  const std::vector<float> logits{1, 2, 4};
  const double sum = std::exp(1.0) + std::exp(2.0) + std::exp(4.0);
  const std::vector<double> found = probabilities(logits);
  ASSERT_EQ(found.size(), 3);
  for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(found[i], std::exp(double{logits[i]}) / sum, 1e-15);
  EXPECT_EQ(probabilities(std::vector<float>{5000, 5000, -5000}),
            (std::vector<double>{0.5, 0.5, 0}));
  EXPECT_EQ(probabilities(std::vector<float>{-3}), std::vector<double>{1});
  EXPECT_EQ(sigmoid(0), 0.5);
}

TEST(Target, OfATokenOrABoxReadsItsOwnRow) {
  const SubjectOutput output{.logits =
                                 Tensor::from(Shape{2, 3}, std::vector<float>{0, 1, 2, 5, 6, 8})};
  EXPECT_DOUBLE_EQ(target_value(TokenTarget{1, 0}, output, TargetMeasure::kLogit), 5);
  EXPECT_DOUBLE_EQ(target_value(BoxTarget{0, 2}, output, TargetMeasure::kLogit), 2);
  EXPECT_NEAR(contrast_value(TokenTarget{1, 2}, TokenTarget{1, 0}, output, TargetMeasure::kLogit),
              3, 1e-12);
  // Only these two: exp 8 / (exp 8 + exp 5).
  EXPECT_NEAR(
      contrast_value(TokenTarget{1, 2}, TokenTarget{1, 0}, output, TargetMeasure::kProbability),
      1 / (1 + std::exp(-3.0)), 1e-12);
}

TEST(Target, OfASimilarityIsTheCosine) {
  const SubjectOutput output{.embedding = Tensor::from(Shape{2}, std::vector<float>{3, 4})};
  EXPECT_NEAR(target_value(SimilarityTarget{{6, 8}}, output, TargetMeasure::kLogit), 1, 1e-12);
  EXPECT_NEAR(target_value(SimilarityTarget{{4, -3}}, output, TargetMeasure::kProbability), 0,
              1e-12);
  EXPECT_THROW(target_value(SimilarityTarget{{1, 2, 3}}, output, TargetMeasure::kLogit), Error);
}

TEST(Target, SaysTheRangeOfWhatIsNotThere) {
  const auto message = [](const Target& target, const SubjectOutput& output) -> std::string {
    try {
      target_value(target, output, TargetMeasure::kLogit);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(message(ClassTarget{3}, classes()).find("0 to 2"), std::string::npos);
  EXPECT_NE(message(ClassTarget{-1}, classes()).find("-1"), std::string::npos);
  const SubjectOutput rows{.logits = Tensor(Shape{4, 5})};
  EXPECT_NE(message(TokenTarget{4, 0}, rows).find("0 to 3"), std::string::npos);
  EXPECT_NE(message(TokenTarget{0, 5}, rows).find("0 to 4"), std::string::npos);
  EXPECT_NE(message(BoxTarget{9, 0}, rows).find("query 9"), std::string::npos);
  EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, Field{"against"}, "give a text to be similar to",
                         [] { target_value(ClassTarget{0}, {}, TargetMeasure::kLogit); }));
}

}  // namespace
}  // namespace fovea
