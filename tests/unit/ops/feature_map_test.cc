#include "fovea/ops/feature_map.h"

#include <gtest/gtest.h>

#include "fovea/ops/activation.h"
#include "fovea/ops/conv.h"
#include "fovea/ops/elementwise.h"
#include "support/compare.h"
#include "support/random.h"

namespace fovea {
namespace {

using ops::FeatureMap;
using support::all_close;
using support::random_tensor;
using support::to_doubles;

// Sums of up to 150 products in another order.
constexpr double kTolerance = 2e-5;

// A residual block and a pooling, as trunks of convolutions have them.
struct Block {
  ops::Conv2d first{random_tensor({16, 5, 3, 3}, 1), random_tensor({16}, 2), {.padding = {1, 1}}};
  ops::Conv2d second{random_tensor({16, 16, 3, 3}, 3), random_tensor({16}, 4), {.padding = {1, 1}}};
  ops::Conv2d shortcut{random_tensor({16, 5, 1, 1}, 5), {}, {}};
  PoolGeometry pool{.kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1}};

  Value operator()(const Value& pixels) const {
    const FeatureMap x(pixels);
    FeatureMap residual = shortcut(x, false);
    const FeatureMap y = second(first(x, true), true, std::move(residual));
    return ops::max_pool2d(y, pool).value();
  }
  // The same of ordinary operations.
  Value plain(const Value& x) const {
    const Value y = ops::add(second(first(x, true)), shortcut(x));
    return ops::max_pool2d(ops::activation(y, Activation::kRelu), pool);
  }
};

TEST(FeatureMap, FastAndWatchedFormsAgreeWithOrdinaryOperations) {
  const Block block;
  const Tensor pixels = random_tensor({2, 5, 9, 12}, 6);
  const std::vector<double> expected = to_doubles(block.plain(pixels).tensor);
  EXPECT_TRUE(all_close(block(pixels).tensor, expected, kTolerance));
  Tape tape;
  EXPECT_TRUE(all_close(block(tape.watch(pixels)).tensor, expected, kTolerance));
}

TEST(FeatureMap, GradientsGoThroughWhereSomethingIsWatched) {
  const Block block;
  const Tensor pixels = random_tensor({1, 5, 8, 7}, 7);
  Tape tape, plain_tape;
  const Value x = tape.watch(pixels), y = plain_tape.watch(pixels);
  const Value fast = block(x), plain = block.plain(y);
  ASSERT_TRUE(fast.watched());
  const Tensor seed = random_tensor(fast.shape(), 8);
  const Tensor expected = plain_tape.gradient(plain, seed, {y})[0];
  EXPECT_TRUE(all_close(tape.gradient(fast, seed, {x})[0], to_doubles(expected), 0));
}

TEST(FeatureMap, StandsForNothingUntilItIsMade) {
  EXPECT_TRUE(FeatureMap().empty());
  const FeatureMap map(Value(random_tensor({1, 2, 3, 4}, 9)));
  EXPECT_FALSE(map.empty());
  EXPECT_FALSE(map.watched());
  EXPECT_EQ(map.shape(), Shape({1, 2, 3, 4}));
}

}  // namespace
}  // namespace fovea
