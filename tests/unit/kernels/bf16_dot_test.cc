#include "fovea/kernels/bf16_dot.h"

#include <gtest/gtest.h>

#include <random>

#include "support/attention_cases.h"

namespace fovea {
namespace {

// Rows of bf16 numbers with an even stride, zero where a row is filled up.
Tensor filled_up(const Tensor& matrix) {
  const int64_t rows = matrix.size(1), cols = matrix.size(2);
  Tensor out(Shape{rows, (cols + 31) / 32 * 32}, DType::kBF16);
  for (int64_t r = 0; r < rows; ++r) {
    std::copy_n(matrix.values<BF16>().data() + r * cols, cols,
                out.mutable_values<BF16>().data() + r * out.size(1));
  }
  return out;
}

double number(const Tensor& tensor, int64_t row, int64_t col) {
  return to_float(tensor.values<BF16>()[static_cast<size_t>(row * tensor.shape().back() + col)]);
}

// Products of bf16 numbers are exact in f32; 1e-6 is for f32 sums of up to 130 terms around 1.
constexpr double kTolerance = 1e-6 * 20;

TEST(Bf16Dot, OfRowsAndKeysMatchesDouble) {
  if (!has_bf16_dot()) GTEST_SKIP() << "this processor has no instruction for it";
  std::mt19937 random(1);
  for (const int64_t depth : {1, 2, 15, 31, 32, 33, 64, 65, 130}) {
    for (const int64_t rows : {1, 2, 5, 6, 7, 12, 13}) {
      SCOPED_TRACE(fmt::format("{} rows of {}", rows, depth));
      const Tensor a = testing::random_heads(random, {1, rows, depth}, 1, DType::kBF16);
      const Tensor b = testing::random_heads(random, {1, 70, depth}, 1, DType::kBF16);
      const Tensor left = filled_up(a);
      const Panels keys = Panels::of_keys(HeadsView::of(b), 0, {0, 70}, DType::kBF16);
      Tensor out(Shape{rows, 64});
      bf16_dots({left.values<BF16>().data(), left.size(1), rows}, 0.5F, keys, 1, 2,
                out.mutable_values<float>().data(), 64);
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t key = 32; key < 96; ++key) {  // beyond 70 the panel is filled up with zeros
          double dot = 0;
          for (int64_t c = 0; key < 70 && c < depth; ++c)
            dot += number(a, r, c) * number(b, key, c);
          ASSERT_NEAR(out.matrix<float>()(r, key - 32), 0.5 * dot, kTolerance);
        }
      }
    }
  }
}

TEST(Bf16Dot, OfWeightsAndValuesAddsToTheSums) {
  if (!has_bf16_dot()) GTEST_SKIP() << "this processor has no instruction for it";
  std::mt19937 random(2);
  for (const int64_t rows : {1, 3, 4, 11, 12, 17}) {
    for (const int64_t keys : {1, 2, 7, 32, 65}) {
      SCOPED_TRACE(fmt::format("{} rows and {} keys", rows, keys));
      const Tensor weights = testing::random_heads(random, {1, rows, keys}, 1, DType::kBF16);
      const Tensor values = testing::random_heads(random, {1, 32 + keys, 40}, 1, DType::kBF16);
      const Tensor left = filled_up(weights);
      const Panels panels =
          Panels::of_values(HeadsView::of(values), 0, {0, 32 + keys}, DType::kBF16);
      Tensor sums(Shape{rows, 64});
      for (float& sum : sums.mutable_values<float>()) sum = 1;
      add_bf16_weighted({left.values<BF16>().data(), left.size(1), rows}, panels, 32, keys,
                        sums.mutable_values<float>().data(), 64);
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t f = 0; f < 40; ++f) {
          double sum = 1;
          for (int64_t k = 0; k < keys; ++k)
            sum += number(weights, r, k) * number(values, 32 + k, f);
          ASSERT_NEAR(sums.matrix<float>()(r, f), sum, kTolerance);
        }
      }
    }
  }
}

TEST(Bf16Dot, RoundsRowsToNearestEven) {
  if (!has_bf16_dot()) GTEST_SKIP() << "this processor has no instruction for it";
  std::mt19937 random(3);
  Tensor row = testing::random_heads(random, {1, 1, 64}, 1, DType::kF32);
  row.mutable_values<float>()[5] = 1.00390625F;  // halfway between two: to the even one
  Tensor rounded(Shape{64}, DType::kBF16);
  round_row_to_bf16(row.values<float>().data(), 64, rounded.mutable_values<BF16>().data());
  for (size_t i = 0; i < 64; ++i) {
    EXPECT_EQ(rounded.values<BF16>()[i].bits, to_bf16(row.values<float>()[i]).bits) << i;
  }
}

}  // namespace
}  // namespace fovea
