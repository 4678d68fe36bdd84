#include "fovea/layers/heads.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/compare.h"
#include "support/memory_source.h"
#include "support/random.h"

namespace fovea {
namespace {

using fovea::support::random_tensor;

constexpr int64_t kHeadRows = 3, kHeadWidth = 5, kWords = 7;

// x W^T + b in double.
std::vector<double> reference_scores(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  std::vector<double> scores;
  for (int64_t row = 0; row < x.size(0); ++row) {
    for (int64_t word = 0; word < weight.size(0); ++word) {
      double sum = bias.empty() ? 0 : double{bias.values<float>()[static_cast<size_t>(word)]};
      for (int64_t i = 0; i < x.size(1); ++i) {
        sum += double{x.matrix<float>().row(row)[i]} * double{weight.matrix<float>().row(word)[i]};
      }
      scores.push_back(sum);
    }
  }
  return scores;
}

TEST(WordScores, AreProductsWithEveryWord) {
  const Tensor x = random_tensor({kHeadRows, kHeadWidth}, 1),
               weight = random_tensor({kWords, kHeadWidth}, 2);
  const Tensor bias = random_tensor({kWords}, 3);
  // Sums of 6 terms around 1 in f32.
  const double tolerance = 2e-6;
  EXPECT_TRUE(fovea::support::all_close(WordScores(weight, bias, DType::kF32)(x).tensor,
                                        reference_scores(x, weight, bias), tolerance));
  EXPECT_TRUE(fovea::support::all_close(WordScores(weight, {}, DType::kF32)(x).tensor,
                                        reference_scores(x, weight, {}), tolerance));
}

TEST(WordScores, ACapKeepsThemWithinIt) {
  const Tensor x = random_tensor({kHeadRows, kHeadWidth}, 1, 3),
               weight = random_tensor({kWords, kHeadWidth}, 2);
  WordScores scores(weight, {}, DType::kF32);
  scores.set_soft_cap(2);
  std::vector<double> expected = reference_scores(x, weight, {});
  for (double& score : expected) score = 2 * std::tanh(score / 2);
  EXPECT_TRUE(fovea::support::all_close(scores(x).tensor, expected, 4e-6));
  EXPECT_GT(fovea::support::largest_magnitude(expected), 1.9);  // the cap was felt
}

TEST(RowsForLogits, AreAllTheLastOrOneByItsNumber) {
  const Tensor x = random_tensor({kHeadRows, kHeadWidth}, 1);
  EXPECT_EQ(rows_for_logits(x, LogitRows::kAll).shape(), x.shape());
  for (const auto& [rows, row] : {std::pair{LogitRows::kLast, kHeadRows - 1},
                                  {logit_row(0), int64_t{0}},
                                  {logit_row(1), int64_t{1}}}) {
    const Value one = rows_for_logits(x, rows);
    ASSERT_EQ(one.shape(), Shape({1, kHeadWidth}));
    EXPECT_EQ(one.tensor.values<float>()[2], x.matrix<float>()(row, 2));
  }
  EXPECT_THROW(rows_for_logits(x, logit_row(kHeadRows)), Error);
}

TEST(WordTransform, IsNormOfActivationOfDense) {
  const Tensor x = random_tensor({kHeadRows, kHeadWidth}, 1),
               weight = random_tensor({kHeadWidth, kHeadWidth}, 2);
  const Tensor bias = random_tensor({kHeadWidth}, 3);
  std::vector<double> expected = reference_scores(x, weight, bias);
  for (double& value : expected) value = std::max(value, 0.0);
  for (int64_t row = 0; row < kHeadRows; ++row) {
    const std::span<double> part =
        std::span(expected).subspan(static_cast<size_t>(row * kHeadWidth), kHeadWidth);
    double mean = 0, variance = 0;
    for (const double value : part) mean += value / kHeadWidth;
    for (const double value : part) variance += (value - mean) * (value - mean) / kHeadWidth;
    for (double& value : part) value = (value - mean) / std::sqrt(variance + 1e-5);
  }
  const std::vector<float> ones(kHeadWidth, 1);
  const Weights plain(std::make_shared<MemorySource>(std::vector<NamedTensor>{
      {"weight", Tensor::from<float>({kHeadWidth}, ones)}, {"bias", Tensor(Shape{kHeadWidth})}}));
  const Norm norm = Norm::layer({plain, DType::kF32}, kHeadWidth, 1e-5);
  const WordTransform transform(ops::Linear(weight, bias), Activation::kRelu, norm);
  EXPECT_TRUE(fovea::support::all_close(transform(x).tensor, expected, 1e-5));
}

TEST(RowsForLogits, AreAllOrTheLast) {
  const Tensor x = random_tensor({kHeadRows, kHeadWidth}, 1);
  EXPECT_EQ(rows_for_logits(x, LogitRows::kAll).shape(), (Shape{kHeadRows, kHeadWidth}));
  const Value last = rows_for_logits(x, LogitRows::kLast);
  ASSERT_EQ(last.shape(), (Shape{1, kHeadWidth}));
  EXPECT_EQ(last.tensor.values<float>()[4], x.matrix<float>().row(kHeadRows - 1)[4]);
  EXPECT_EQ(row_of(x, 0).tensor.values<float>()[4], x.matrix<float>().row(0)[4]);
  EXPECT_EQ(as_vector(row_of(x, 1)).shape(), (Shape{kHeadWidth}));
}

}  // namespace
}  // namespace fovea
