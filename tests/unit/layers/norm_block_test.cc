#include "fovea/layers/norm_block.h"

#include <gtest/gtest.h>

#include "fovea/layers/clip_stack.h"
#include "fovea/layers/run_block.h"
#include "fovea/layers/text_mask.h"
#include "support/compare.h"
#include "support/memory_source.h"
#include "support/random.h"

namespace fovea {
namespace {

using fovea::support::all_close;
using fovea::support::random_tensor;
using fovea::support::to_doubles;

constexpr int64_t kPreNormWidth = 6, kPreNormInner = 10;

LayerSource pre_norm_source(std::vector<NamedTensor> tensors) {
  return {Weights(std::make_shared<MemorySource>(std::move(tensors))), DType::kF32};
}

// One CLIP block below "encoder.layers.0", and its text embeddings.
LayerSource clip_source() {
  std::vector<NamedTensor> tensors{
      {"embeddings.token_embedding.weight", random_tensor({9, kPreNormWidth}, 1)},
      {"embeddings.position_embedding.weight", random_tensor({5, kPreNormWidth}, 2)}};
  uint64_t seed = 3;
  const auto add = [&](const std::string& name, Shape shape) {
    tensors.push_back({"encoder.layers.0." + name, random_tensor(std::move(shape), seed++, 0.5F)});
  };
  for (const char* part :
       {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.out_proj"}) {
    add(std::string(part) + ".weight", {kPreNormWidth, kPreNormWidth});
    add(std::string(part) + ".bias", {kPreNormWidth});
  }
  for (const char* part : {"layer_norm1", "layer_norm2"}) {
    add(std::string(part) + ".weight", {kPreNormWidth});
    add(std::string(part) + ".bias", {kPreNormWidth});
  }
  add("mlp.fc1.weight", {kPreNormInner, kPreNormWidth});
  add("mlp.fc1.bias", {kPreNormInner});
  add("mlp.fc2.weight", {kPreNormWidth, kPreNormInner});
  add("mlp.fc2.bias", {kPreNormWidth});
  return pre_norm_source(std::move(tensors));
}

Config clip_config() {
  return Config(Json::parse(R"({"hidden_size": 6, "num_attention_heads": 2, "num_hidden_layers": 1,
                                "intermediate_size": 10, "hidden_act": "relu", "vocab_size": 9,
                                "layer_norm_eps": 0.01, "max_position_embeddings": 5})",
                            "config.json"),
                "config.json");
}

TEST(PreNormBlock, AddsEachPartToWhatItGot) {
  const LayerSource source = clip_source();
  const ClipStack stack(source, clip_config());
  const LayerSource block = source["encoder.layers"][0];
  const AttentionLayer attention(
      stack.sizes,
      {load_linear(block["self_attn.q_proj"], kPreNormWidth, kPreNormWidth),
       load_linear(block["self_attn.k_proj"], kPreNormWidth, kPreNormWidth),
       load_linear(block["self_attn.v_proj"], kPreNormWidth, kPreNormWidth)},
      load_linear(block["self_attn.out_proj"], kPreNormWidth, kPreNormWidth));
  const Tensor x = random_tensor({4, kPreNormWidth}, 40);
  const AttentionSetting setting{.rule = source_rule(stack.sizes.scale(), {})};
  const SiteId site{SiteKind::kSelf, 0};
  const Tensor attended =
      attention({}, site, Norm::layer(block["layer_norm1"], kPreNormWidth, 0.01)(x), setting)
          .tensor;
  std::vector<float> sum;
  for (size_t i = 0; i < 4 * kPreNormWidth; ++i) {
    sum.push_back(x.values<float>()[i] + attended.values<float>()[i]);
  }
  const Tensor middle = Tensor::from<float>({4, kPreNormWidth}, sum);
  const Tensor fed = load_clip_feed_forward(block["mlp"], clip_config(), kPreNormWidth)(
                         Norm::layer(block["layer_norm2"], kPreNormWidth, 0.01)(middle))
                         .tensor;
  std::vector<double> expected;
  for (size_t i = 0; i < sum.size(); ++i) {
    expected.push_back(double{sum[i]} + double{fed.values<float>()[i]});
  }
  const Tensor found = run_blocks(stack.blocks, {}, SiteKind::kSelf, x, setting).tensor;
  EXPECT_TRUE(all_close(found.values<float>(), expected, 1e-5));  // sums of ten products
}

TEST(PreNormBlock, BlocksAttendAtTheSitesOfTheirKindAlongTheAxisGiven) {
  const ClipStack stack(clip_source(), clip_config());
  const std::vector<PreNormBlock> twice{stack.blocks[0], stack.blocks[0]};
  Recorder recorder;
  run_blocks(twice, {.recorder = &recorder}, SiteKind::kSelf, random_tensor({4, kPreNormWidth}, 41),
             {.rule = source_rule(1, {}), .row_axis = "patches", .col_axis = "patches"});
  const auto records = recorder.take();
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(to_string(records[1]->site), "self.1");
  EXPECT_EQ(records[1]->row_axis, "patches");
  EXPECT_EQ(records[1]->col_axis, "patches");
}

TEST(ClipTextEmbeddings, AreWordsAndPositions) {
  const ClipTextEmbeddings embed(clip_source()["embeddings"], clip_config());
  const std::vector<int64_t> ids{8, 0, 8};
  const Tensor found = embed({}, ids).tensor;
  std::vector<double> expected;
  for (size_t i = 0; i < 3; ++i) {
    for (size_t d = 0; d < kPreNormWidth; ++d) {
      expected.push_back(
          double{embed.words.numbers()
                     .values<float>()[static_cast<size_t>(ids[i]) * kPreNormWidth + d]} +
          double{embed.positions.numbers().values<float>()[i * kPreNormWidth + d]});
    }
  }
  EXPECT_TRUE(all_close(found.values<float>(), expected, 1e-6));  // one sum
}

}  // namespace
}  // namespace fovea
