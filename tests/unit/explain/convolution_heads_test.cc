// A layer of attention that is a convolution.
#include "fovea/explain/pictures/convolution_heads.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/errors.h"
#include "support/random.h"

namespace fovea {
namespace {

double naive_convolution(const Tensor& pixels, const Tensor& kernel, int64_t out, int64_t row,
                         int64_t col) {
  const int64_t side = kernel.size(2);
  double sum = 0;
  for (int64_t c = 0; c < pixels.size(0); ++c) {
    for (int64_t r = 0; r < side; ++r) {
      for (int64_t k = 0; k < side; ++k) {
        // At the border the nearest pixel inside, as softmax takes it.
        const int64_t y = std::clamp<int64_t>(row + r - side / 2, 0, pixels.size(1) - 1);
        const int64_t x = std::clamp<int64_t>(col + k - side / 2, 0, pixels.size(2) - 1);
        const int64_t at = (c * pixels.size(1) + y) * pixels.size(2) + x;
        const int64_t weight = ((out * pixels.size(0) + c) * side + r) * side + k;
        sum += double{pixels.values<float>()[size_t(at)]} *
               double{kernel.values<float>()[size_t(weight)]};
      }
    }
  }
  return sum;
}

TEST(ConvolutionHeads, NineHeadsAreAThreeByThreeConvolution) {
  for (const auto& [rows, cols] : {std::pair<int64_t, int64_t>{12, 17}, {40, 32}, {3, 3}}) {
    const Tensor pixels = support::random_tensor({3, rows, cols}, 11);
    const Tensor kernel = support::random_tensor({5, 3, 3, 3}, 12, 0.3F);
    const AttentionRecord record = convolution_record(pixels, 3);
    validate(record);
    const Tensor out = mix_heads(record, {rows, cols}, kernel);
    ASSERT_EQ(out.shape(), (Shape{5, rows, cols}));
    for (int64_t o = 0; o < 5; ++o) {
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t c = 0; c < cols; ++c) {
          // 27 products of f32; inside of the border this is the convolution.
          ASSERT_NEAR(out.values<float>()[size_t((o * rows + r) * cols + c)],
                      naive_convolution(pixels, kernel, o, r, c), 1e-5)
              << o << ' ' << r << ' ' << c;
        }
      }
    }
  }
}

TEST(ConvolutionHeads, TheDifferenceIsThatInsideOfTheBorder) {
  const Tensor pixels = support::random_tensor({3, 6, 7}, 4), kernel = edge_kernel(3);
  const AttentionRecord record = convolution_record(pixels, 3);
  // 27 products of f32, of numbers up to 8 times a few.
  EXPECT_LT(convolution_difference(record, pixels, kernel), 1e-4);
  // Of heads of another picture: the largest difference of both mixes.
  const Tensor others = support::random_tensor({3, 6, 7}, 5);
  double largest = 0;
  for (int64_t r = 1; r < 5; ++r) {
    for (int64_t c = 1; c < 6; ++c) {
      largest = std::max(largest, std::abs(naive_convolution(pixels, kernel, 0, r, c) -
                                           naive_convolution(others, kernel, 0, r, c)));
    }
  }
  EXPECT_NEAR(convolution_difference(record, others, kernel), largest, 1e-4);
}

TEST(ConvolutionHeads, RefuseWhatIsNoConvolution) {
  const Tensor pixels = support::random_tensor({3, 4, 4}, 1);
  EXPECT_TRUE(fails_cleanly([&] { convolution_record(pixels, 2); }));
  EXPECT_TRUE(fails_cleanly([&] { convolution_record(pixels, 3, 0); }));
  EXPECT_TRUE(fails_cleanly([] { convolution_record(Tensor({4, 4}), 3); }));
  const AttentionRecord record = convolution_record(pixels, 3);
  EXPECT_TRUE(fails_cleanly([&] { mix_heads(record, {4, 4}, Tensor({2, 3, 5, 5})); }));
  EXPECT_TRUE(fails_cleanly([&] { mix_heads(record, {4, 5}, Tensor({2, 3, 3, 3})); }));
}

}  // namespace
}  // namespace fovea
