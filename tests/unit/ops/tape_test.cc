#include "fovea/ops/tape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "fovea/kernels/elementwise.h"
#include "fovea/ops/activation.h"
#include "fovea/ops/elementwise.h"
#include "fovea/ops/layout.h"
#include "fovea/ops/norm.h"
#include "support/compare.h"
#include "support/random.h"

namespace {
std::atomic<int64_t> allocations{0};
}  // namespace

// Counted for this whole program, to see that a plain run allocates nothing but its results.
[[gnu::noinline]] void* operator new(size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}

namespace fovea {
namespace {

using support::all_close;
using support::random_tensor;
using support::to_doubles;
using ::testing::HasSubstr;

Tensor vector_of(std::vector<float> values) {
  return Tensor::from<float>({static_cast<int64_t>(values.size())}, values);
}

template <typename Work>
int64_t allocations_of(const Work& work) {
  const int64_t before = allocations.load();
  work();
  return allocations.load() - before;
}

TEST(Tape, AnObserverSeesTheWholeGradientWhateverIsAskedFor) {
  Tape tape;
  const Value x = tape.watch(vector_of({1, 2, 3}));
  std::vector<float> seen;
  int calls = 0;
  const Value y = tape.observe(ops::scale(x, 2), [&](const Tensor& gradient) {
    seen.assign(gradient.values<float>().begin(), gradient.values<float>().end());
    ++calls;
  });
  EXPECT_THAT(y.tensor.values<float>(), ::testing::ElementsAre(2, 4, 6));
  const Value z = ops::multiply(y, y);  // dz = 2 y, over both paths
  const Tensor seed = vector_of({1, 1, 10});
  EXPECT_TRUE(tape.gradient(z, seed, {}).empty());
  EXPECT_THAT(seen, ::testing::ElementsAre(4, 8, 120));
  EXPECT_THAT(tape.gradient(z, seed, {x})[0].values<float>(), ::testing::ElementsAre(8, 16, 240));
  EXPECT_EQ(calls, 2);
}

TEST(Tape, AConstantIsFollowedFromItsObserverOn) {
  Tape tape;
  float seen = 0;
  const Value y = tape.observe(vector_of({5}),
                               [&](const Tensor& gradient) { seen = gradient.values<float>()[0]; });
  ASSERT_TRUE(y.watched());
  EXPECT_TRUE(tape.gradient(ops::scale(y, 3), vector_of({1}), {}).empty());
  EXPECT_EQ(seen, 3);
}

TEST(Tape, PlainOpsAllocateOnlyTheirResult) {
  const Value a = random_tensor({3, 5}, 1), b = random_tensor({3, 5}, 2);
  const int64_t result_only =
      allocations_of([&] { const Value out = Tensor::uninitialized(a.shape()); });
  const auto check = [&](const char* name, const auto& op) {
    op();  // the first call of a kernel may set up its dispatch
    EXPECT_EQ(allocations_of([&] { const Value out = op(); }), result_only) << name;
  };
  check("add", [&] { return ops::add(a, b); });
  check("multiply", [&] { return ops::multiply(a, b); });
  check("scale", [&] { return ops::scale(a, 2.0f); });
  check("gelu", [&] { return ops::activation(a, Activation::kGelu); });
}

TEST(Tape, PlainOpsKeepNoneOfTheirInputs) {
  const auto owner = std::make_shared<std::vector<float>>(6, 1.5f);
  const Value x =
      Tensor::borrow({2, 3}, DType::kF32, reinterpret_cast<const std::byte*>(owner->data()), owner);
  const int64_t before = owner.use_count();
  const Value out = ops::activation(ops::multiply(ops::scale(x, 3.0f), x), Activation::kGelu);
  EXPECT_EQ(owner.use_count(), before);
  EXPECT_FALSE(out.watched());
}

TEST(Tape, KeepsOnlyWhatGradientsNeed) {
  const auto owner = std::make_shared<std::vector<float>>(6, 1.5f);
  const auto borrow = [&] {
    return Tensor::borrow({2, 3}, DType::kF32, reinterpret_cast<const std::byte*>(owner->data()),
                          owner);
  };
  Tape tape;
  // The gradient of x * w with respect to w needs x but not w itself.
  Value w = tape.watch(borrow());
  const Value product = ops::multiply(random_tensor({2, 3}, 1), w);
  w = {};
  EXPECT_EQ(owner.use_count(), 1);
  // A sum needs neither.
  Value a = tape.watch(borrow());
  const Value sum = ops::add(a, Value(borrow()));
  a = {};
  EXPECT_EQ(owner.use_count(), 1);
  // A product of two needs both.
  const Value square = [&] {
    const Value both = tape.watch(borrow());
    return ops::multiply(both, both);
  }();
  EXPECT_EQ(owner.use_count(), 3);
}

TEST(Tape, RecordsOneNodePerWatchedOpAndNoneForConstants) {
  Tape tape;
  const Value x = tape.watch(random_tensor({4}, 1));
  const Value constant = random_tensor({4}, 2);
  EXPECT_EQ(tape.node_count(), 1);
  ops::add(constant, constant);
  EXPECT_EQ(tape.node_count(), 1);
  ops::add(x, constant);
  EXPECT_EQ(tape.node_count(), 2);
}

TEST(Tape, GradientsOfAValueUsedTwiceAddUp) {
  Tape tape;
  const Value x = tape.watch(vector_of({2, -3, 5}));
  // y = x * x + 4 x + x, so dy/dx = 2 x + 5.
  const Value y = ops::add(ops::add(ops::multiply(x, x), ops::scale(x, 4)), x);
  const Tensor gradient = tape.gradient(y, vector_of({1, 10, 100}), {x})[0];
  EXPECT_TRUE(all_close(gradient, std::vector<double>{9, -10, 1500}, 0));
}

TEST(Tape, LongChainsOfSharedValuesAreWalkedOnce) {
  Tape tape;
  const Value x = tape.watch(vector_of({1}));
  Value y = x;
  for (int i = 0; i < 60; ++i) y = ops::scale(ops::add(y, y), 0.5f);  // 2^60 paths
  EXPECT_TRUE(all_close(tape.gradient(y, vector_of({3}), {x})[0], std::vector<double>{3}, 0));
}

TEST(Tape, UnusedInputHasZeroGradient) {
  Tape tape;
  const Value x = tape.watch(random_tensor({3}, 1)), unused = tape.watch(random_tensor({2, 2}, 2));
  const Value y = ops::scale(x, 2);
  const Value later = ops::scale(x, 3);
  const auto gradients = tape.gradient(y, vector_of({1, 1, 1}), {unused, later, x});
  EXPECT_EQ(to_string(gradients[0].shape()), "[2, 2]");
  EXPECT_TRUE(all_close(gradients[0], std::vector<double>(4), 0));
  EXPECT_TRUE(all_close(gradients[1], std::vector<double>(3), 0));
  EXPECT_TRUE(all_close(gradients[2], std::vector<double>{2, 2, 2}, 0));
}

TEST(Tape, IntermediateValuesAndTheOutputItselfMayBeAskedFor) {
  Tape tape;
  const Value x = tape.watch(vector_of({1, 2}));
  const Value middle = ops::multiply(x, x);
  const Value y = ops::scale(middle, 10);
  const auto gradients = tape.gradient(y, vector_of({1, 3}), {y, middle, x});
  EXPECT_TRUE(all_close(gradients[0], std::vector<double>{1, 3}, 0));
  EXPECT_TRUE(all_close(gradients[1], std::vector<double>{10, 30}, 0));
  EXPECT_TRUE(all_close(gradients[2], std::vector<double>{20, 120}, 0));
}

TEST(Tape, GradientCanBeTakenAgainWithAnotherSeed) {
  Tape tape;
  const Value x = tape.watch(vector_of({1, 2}));
  const Value y = ops::multiply(x, x);
  EXPECT_TRUE(all_close(tape.gradient(y, vector_of({1, 0}), {x})[0], std::vector<double>{2, 0}, 0));
  EXPECT_TRUE(all_close(tape.gradient(y, vector_of({0, 1}), {x})[0], std::vector<double>{0, 4}, 0));
}

TEST(Tape, WorkTowardsUnwantedInputsIsSkipped) {
  Tape tape;
  const Value x = tape.watch(vector_of({1})), other = tape.watch(vector_of({1}));
  int calls = 0;
  const Value hidden = tape.record(vector_of({1}), {other.node},
                                   [&](const Tensor& gradient, InputGradients& inputs) {
                                     ++calls;
                                     inputs.add(0, gradient);
                                   });
  const Value y = ops::add(x, hidden);
  const auto gradients = tape.gradient(y, vector_of({1}), {x});
  EXPECT_EQ(calls, 0);
  EXPECT_TRUE(all_close(gradients[0], std::vector<double>{1}, 0));
  EXPECT_TRUE(all_close(tape.gradient(y, vector_of({1}), {other})[0], std::vector<double>{1}, 0));
  EXPECT_EQ(calls, 1);
}

template <typename Work>
std::string tape_refusal(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidArgument);
    return error.what();
  }
  return "no error";
}

TEST(Tape, MistakesAreNamed) {
  Tape tape, second;
  const Value x = tape.watch(vector_of({1, 2})), y = ops::scale(x, 2);
  const Value elsewhere = second.watch(vector_of({1, 2}));
  const Value constant = vector_of({1, 2});
  EXPECT_THAT(tape_refusal([&] { tape.gradient(y, vector_of({1}), {x}); }), HasSubstr("[1]"));
  EXPECT_THAT(tape_refusal([&] { tape.gradient(y, Tensor(Shape{2}, DType::kF64), {x}); }),
              HasSubstr("F64"));
  EXPECT_THAT(tape_refusal([&] {
                tape.gradient(y, vector_of({1, 1}), {constant});
              }),
              HasSubstr("not on this tape"));
  EXPECT_THAT(tape_refusal([&] {
                tape.gradient(constant, vector_of({1, 1}), {x});
              }),
              HasSubstr("not on this tape"));
  EXPECT_THAT(tape_refusal([&] {
                tape.gradient(y, vector_of({1, 1}), {elsewhere});
              }),
              HasSubstr("not on this tape"));
  EXPECT_THAT(tape_refusal([&] { ops::add(x, elsewhere); }), HasSubstr("two different tapes"));
  EXPECT_THAT(tape_refusal([&] { tape.watch(Tensor(Shape{2}, DType::kBF16)); }), HasSubstr("BF16"));
}

}  // namespace
}  // namespace fovea
