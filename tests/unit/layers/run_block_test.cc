#include "fovea/layers/run_block.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/layers/attend.h"
#include "fovea/ops/activation.h"
#include "fovea/ops/elementwise.h"
#include "fovea/ops/layout.h"
#include "support/compare.h"
#include "support/random.h"

namespace fovea {
namespace {

using fovea::support::all_close;
using fovea::support::random_tensor;
using fovea::support::to_doubles;

constexpr int64_t kRunRows = 6, kRunWidth = 8, kRunHeads = 2;

// A block with a residual, attention to itself or to a memory, and something that bends.
Value some_block(const Pass& pass, int layer, const Value& x, const Value& memory) {
  const auto heads = [](const Value& value) { return ops::split_heads(value, kRunHeads); };
  const auto rule = std::make_shared<const ScoreRule>(ScoreRule{.scale = 0.5F});
  const Value& seen = memory.tensor.empty() ? x : memory;
  const Value mixed = attend(pass, AttentionPlace::of({SiteKind::kSelf, layer}), heads(x),
                             heads(seen), heads(ops::scale(seen, 1.5F)), rule);
  return ops::add(ops::activation(mixed, Activation::kTanh), x);
}

struct BlockRun {
  Value x, memory, out;
  int calls = 0;
};

// Three blocks, the last two of which read the memory too.
void run(const Pass& pass, BlockRun& it) {
  const auto first = [&it](const Pass& inside, const Value& x) {
    ++it.calls;
    return some_block(inside, 0, x, {});
  };
  it.out = run_block(pass, it.x, first);
  for (const int layer : {1, 2}) {
    it.out = run_block(pass, it.out, it.memory,
                       [&it, layer](const Pass& inside, const Value& x, const Value& memory) {
                         ++it.calls;
                         return some_block(inside, layer, x, memory);
                       });
  }
}

const Tensor kInput = random_tensor({kRunRows, kRunWidth}, 1);
const Tensor kMemory = random_tensor({kRunRows + 1, kRunWidth}, 2);
const Tensor kSeed = random_tensor({kRunRows, kRunWidth}, 3);

TEST(RunBlock, GradientsAreThoseOfTheTapeThatRemembersEverything) {
  Tape whole, tape;
  BlockRun remembered{.x = whole.watch(kInput), .memory = whole.watch(kMemory)};
  run({}, remembered);
  EXPECT_EQ(remembered.calls, 3);
  const auto expected = whole.gradient(remembered.out, kSeed, {remembered.x, remembered.memory});

  BlockRun again{.x = tape.watch(kInput), .memory = tape.watch(kMemory)};
  run({.tape = &tape}, again);
  EXPECT_EQ(tape.node_count(), 2 + 3);  // both inputs and one node for each block
  EXPECT_TRUE(all_close(again.out.tensor, to_doubles(remembered.out.tensor), 0));
  const auto found = tape.gradient(again.out, kSeed, {again.x, again.memory});
  EXPECT_EQ(again.calls, 6);  // each block twice
  for (size_t i = 0; i < 2; ++i) {
    // The same products, summed in another order where the memory's parts meet.
    EXPECT_TRUE(all_close(found[i], to_doubles(expected[i]), 1e-6));
  }
}

TEST(RunBlock, RecordsAreMadeOnTheWayBackFromTheLastLayerToTheFirst) {
  std::vector<AttentionRecord> seen;
  Recorder recorder({.give_to = [&](int64_t, AttentionRecord record) { seen.push_back(record); }});
  Tape tape;
  BlockRun it{.x = tape.watch(kInput), .memory = Value(kMemory)};
  run({.recorder = &recorder, .tape = &tape}, it);
  EXPECT_TRUE(seen.empty());
  tape.gradient(it.out, kSeed, {});
  ASSERT_EQ(seen.size(), 3U);
  EXPECT_EQ(seen[0].site.layer, 2);
  EXPECT_EQ(seen[2].site.layer, 0);
  // out = tanh(mixed) + x, so that dO of the last block is seed * (1 - tanh^2).
  const Tensor mixed = [&] {
    Tape plain;
    Recorder all({.outputs = true});
    BlockRun once{.x = kInput, .memory = Value(kMemory)};
    run({.recorder = &all}, once);
    return all.take()[2]->output;
  }();
  std::vector<double> expected;
  const Tensor seed = ops::split_heads(kSeed, kRunHeads).tensor;
  for (size_t i = 0; i < mixed.values<float>().size(); ++i) {
    const double tanh = std::tanh(double{mixed.values<float>()[i]});
    expected.push_back(double{seed.values<float>()[i]} * (1 - tanh * tanh));
  }
  EXPECT_TRUE(all_close(seen[0].output_gradient, expected, 1e-6));
}

TEST(RunBlock, AnAttentionOfConstantsHasAGradientToo) {
  // What DETR's decoder begins with: queries that do not depend on the picture.
  Recorder recorder;
  Tape tape;
  BlockRun it{.x = Value(kInput), .memory = tape.watch(kMemory)};
  run({.recorder = &recorder, .tape = &tape}, it);
  tape.gradient(it.out, kSeed, {it.memory});
  EXPECT_EQ(recorder.take().size(), 3U);
}

TEST(RunBlock, ChangesAndGradientsDoNotGoTogether) {
  Tape tape;
  const std::vector<int64_t> texts{2, 4};
  BlockRun it{.x = tape.watch(kInput), .memory = Value(kMemory)};
  EXPECT_THROW(run({.texts = texts, .tape = &tape}, it);
               tape.gradient(it.out, kSeed, {it.x}), Error);
}

}  // namespace
}  // namespace fovea
