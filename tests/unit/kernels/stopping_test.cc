#include <gtest/gtest.h>

#include "fovea/kernels/attention.h"
#include "fovea/kernels/attention_backward.h"
#include "fovea/kernels/conv.h"
#include "fovea/kernels/matmul.h"
#include "support/stopping.h"

namespace fovea {
namespace {

using support::seconds_to_stop;

// Every one of these would take seconds.
class Stopping : public ::testing::Test {
 protected:
  static Tensor ones(Shape shape) {
    Tensor tensor(std::move(shape));
    std::ranges::fill(tensor.mutable_values<float>(), 0.5f);
    return tensor;
  }
};

TEST_F(Stopping, AttentionLeavesAtOnce) {
  const Tensor heads = ones({12, 30'000, 64});
  const ScoreRule rule;
  const AttentionInputs inputs{HeadsView::of(heads), HeadsView::of(heads), HeadsView::of(heads),
                               &rule};
  Tensor out = Tensor::uninitialized(heads.shape());
  std::vector<double> lse(12 * 30'000);
  const auto seconds = seconds_to_stop([&] { attention(inputs, MutableHeadsView::of(out), lse); });
  ASSERT_TRUE(seconds);
  EXPECT_LT(*seconds, support::kStopQuickly);
}

TEST_F(Stopping, TheGradientOfAttentionLeavesAtOnce) {
  const Tensor heads = ones({2, 20'000, 64});
  const ScoreRule rule;
  const AttentionInputs inputs{HeadsView::of(heads), HeadsView::of(heads), HeadsView::of(heads),
                               &rule};
  const std::vector<double> lse(2 * 20'000, 10.0);
  const auto seconds = seconds_to_stop(
      [&] { attention_backward(inputs, HeadsView::of(heads), lse, HeadsView::of(heads)); });
  ASSERT_TRUE(seconds);
  EXPECT_LT(*seconds, support::kStopQuickly);
}

TEST_F(Stopping, ALinearLayerLeavesAtOnce) {
  const Tensor x = ones({30'000, 1024}), weight = ones({8192, 1024});
  Tensor out = Tensor::uninitialized({30'000, 8192});
  for (const DType compute : {DType::kF32, DType::kI16}) {
    const PackedMatrix packed(weight, compute);
    const auto seconds =
        seconds_to_stop([&] { packed.apply(x.matrix<float>(), {}, out.mutable_matrix<float>()); });
    ASSERT_TRUE(seconds);
    EXPECT_LT(*seconds, support::kStopQuickly);
  }
}

TEST_F(Stopping, AMatrixProductLeavesAtOnce) {
  const Tensor a = ones({20'000, 1024}), b = ones({8192, 1024});
  Tensor out = Tensor::uninitialized({20'000, 8192});
  const auto seconds = seconds_to_stop([&] {
    matmul(a.matrix<float>(), b.matrix<float>(), out.mutable_matrix<float>(),
           {.transpose_b = true});
  });
  ASSERT_TRUE(seconds);
  EXPECT_LT(*seconds, support::kStopQuickly);
}

TEST_F(Stopping, ConvolutionsLeaveSoon) {
  const Tensor image = ones({1, 64, 400, 533});
  const PackedConv conv(ones({64, 64, 3, 3}), {}, {.padding = {1, 1}});
  const auto seconds = seconds_to_stop([&] {
    BlockedImage states(image);
    for (int layer = 0; layer < 500; ++layer) states = conv.apply(states, /*relu=*/true);
  });
  ASSERT_TRUE(seconds);
  EXPECT_LT(*seconds, support::kStopSoon);
}

}  // namespace
}  // namespace fovea
