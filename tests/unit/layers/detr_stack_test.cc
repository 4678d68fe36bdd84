#include "fovea/layers/detr_stack.h"

#include <gtest/gtest.h>

#include "fovea/layers/mask_head.h"
#include "support/compare.h"
#include "support/errors.h"
#include "support/memory_source.h"
#include "support/random.h"

namespace fovea {
namespace {

using fovea::support::all_close;
using fovea::support::random_tensor;
using fovea::support::to_doubles;

constexpr int64_t kDetrWidth = 16, kDetrInner = 5, kQueries = 3;

Config config() {
  return Config(Json::parse(R"({"d_model": 16, "encoder_layers": 1, "decoder_layers": 2,
                      "encoder_attention_heads": 8, "decoder_attention_heads": 4,
                      "encoder_ffn_dim": 5, "decoder_ffn_dim": 5})",
                            "config.json"),
                "config.json");
}

class Random {
 public:
  void linear(const std::string& name, int64_t in, int64_t out, float scale = 1) {
    tensor(name + ".weight", {out, in}, scale);
    tensor(name + ".bias", {out});
  }
  void norm(const std::string& name, int64_t width) {
    tensor(name + ".weight", {width});
    tensor(name + ".bias", {width});
  }
  void convolution(const std::string& name, int64_t in, int64_t out, int64_t kernel) {
    tensor(name + ".weight", {out, in, kernel, kernel});
    tensor(name + ".bias", {out});
  }
  LayerSource source() const {
    return {Weights(std::make_shared<MemorySource>(tensors_)), DType::kF32};
  }

 private:
  void tensor(const std::string& name, const Shape& shape, float scale = 1) {
    Tensor values = random_tensor(shape, ++seed_);
    for (float& value : values.mutable_values<float>()) value *= scale;
    tensors_.push_back({name, values});
  }
  unsigned seed_ = 1;
  std::vector<NamedTensor> tensors_;
};

// Scores are `sharpness` times those of random weights; 0: every key counts the same.
LayerSource stack(int layers, bool decoder, float sharpness) {
  Random random;
  for (int layer = 0; layer < layers; ++layer) {
    const std::string block = "layers." + std::to_string(layer);
    std::vector<std::string> attentions{block + ".self_attn"};
    if (decoder) attentions.push_back(block + ".encoder_attn");
    for (const std::string& name : attentions) {
      random.linear(name + ".q_proj", kDetrWidth, kDetrWidth, sharpness);
      random.linear(name + ".k_proj", kDetrWidth, kDetrWidth);
      random.linear(name + ".v_proj", kDetrWidth, kDetrWidth);
      random.linear(name + ".out_proj", kDetrWidth, kDetrWidth);
      random.norm(name + "_layer_norm", kDetrWidth);
    }
    random.linear(block + ".fc1", kDetrWidth, kDetrInner);
    random.linear(block + ".fc2", kDetrInner, kDetrWidth);
    random.norm(block + ".final_layer_norm", kDetrWidth);
  }
  random.norm("layernorm", kDetrWidth);
  return random.source();
}

CellStates cells(const Tensor& positions, std::vector<int64_t> valid = {}) {
  return {.states = random_tensor({6, kDetrWidth}, 50),
          .positions = positions,
          .grid = {.rows = 2, .cols = 3, .valid = std::move(valid)}};
}

TEST(DetrEncoder, PositionsReachTheWeightsButNotTheValues) {
  const Tensor some = random_tensor({6, kDetrWidth}, 51), none(Shape{6, kDetrWidth});
  for (const bool norm_first : {false, true}) {
    const DetrStackOptions options{.norm_first = norm_first};
    const DetrEncoder encoder(stack(1, false, 0.3F), config(), options);
    const Tensor with = encoder({}, cells(some)).tensor, without = encoder({}, cells(none)).tensor;
    EXPECT_FALSE(all_close(with, to_doubles(without), 1e-3));
    // One key only: all weights are 1 whatever the scores, and the values have no positions.
    const std::vector<int64_t> one{0, 0, 1, 0, 0, 0};
    EXPECT_TRUE(all_close(encoder({}, cells(some, one)).tensor,
                          to_doubles(encoder({}, cells(none, one)).tensor), 1e-6));
  }
}

TEST(DetrDecoder, QueriesDifferByTheirPositionsAlone) {
  Tensor positions = random_tensor({kQueries, kDetrWidth}, 52);
  const std::span<float> values = positions.mutable_values<float>();
  std::copy_n(values.begin(), kDetrWidth,
              values.begin() + 2 * kDetrWidth);  // the third is the first again
  const CellStates memory = cells(random_tensor({6, kDetrWidth}, 53), {1, 1, 0, 1, 1, 0});
  for (const DetrStackOptions& options : {DetrStackOptions{}, DetrStackOptions{.norm_first = true},
                                          DetrStackOptions{.norm_between = true}}) {
    const DetrDecoder decoder(stack(2, true, 0.3F), config(), options);
    EXPECT_EQ(decoder.layers(), 2);
    Recorder recorder;
    const Tensor states = decoder({.recorder = &recorder}, positions, memory).tensor;
    const std::span<const float> all = states.values<float>();
    const std::vector<double> first(all.begin(), all.begin() + kDetrWidth);
    EXPECT_TRUE(all_close(all.last(kDetrWidth), first, 1e-6));
    EXPECT_FALSE(all_close(all.subspan(kDetrWidth, kDetrWidth), first, 1e-3));
    const auto records = recorder.take();
    ASSERT_EQ(records.size(), 4U);
    EXPECT_EQ(records.front()->col_axis, "queries");
    EXPECT_EQ(records.back()->row_axis, "queries");
    EXPECT_EQ(records.back()->col_axis, "cells");
    EXPECT_EQ(records.back()->rule.mask.key_valid, (std::vector<uint8_t>{1, 1, 0, 1, 1, 0}));
  }
}

LayerSource mask_weights(int64_t width, int64_t heads, const std::array<int64_t, 3>& channels) {
  Random random;
  random.linear("bbox_attention.q_linear", width, width);
  random.linear("bbox_attention.k_linear", width, width);
  random.convolution("mask_head.lay1", width + heads, width + heads, 3);
  random.norm("mask_head.gn1", width + heads);
  random.convolution("mask_head.lay2", width + heads, width / 2, 3);
  random.norm("mask_head.gn2", width / 2);
  for (int i = 0; i < 3; ++i) {
    const int64_t in = width >> (i + 1), out = width >> (i + 2);
    random.convolution("mask_head.adapter" + std::to_string(i + 1),
                       channels[static_cast<size_t>(i)], in, 1);
    random.convolution("mask_head.lay" + std::to_string(i + 3), in, out, 3);
    random.norm("mask_head.gn" + std::to_string(i + 3), out);
  }
  random.convolution("mask_head.out_lay", width / 16, 1, 3);
  return random.source();
}

TEST(MaskHead, EqualQueriesHaveEqualMasksOfTheFinestSize) {
  const AttentionSizes sizes{.width = 64, .heads = 8, .kv_heads = 8, .head_dim = 8};
  const MaskHead head(mask_weights(64, 8, {5, 4, 3}), config(), sizes, {5, 4, 3});
  Tensor queries = random_tensor({kQueries, 64}, 54);
  const std::span<float> values = queries.mutable_values<float>();
  std::copy_n(values.begin(), 64, values.begin() + 2 * 64);
  const CellGrid grid{.rows = 2, .cols = 3, .valid = {1, 1, 0, 1, 1, 0}};
  const MaskHead::Attention attention = head.attend({}, queries, random_tensor({6, 64}, 55), grid);
  EXPECT_EQ(attention.lse.shape(), Shape({kQueries}));
  const Tensor masks = head.masks(attention, random_tensor({1, 64, 2, 3}, 56),
                                  {random_tensor({1, 5, 3, 5}, 57), random_tensor({1, 4, 5, 9}, 58),
                                   random_tensor({1, 3, 9, 17}, 59)});
  ASSERT_EQ(masks.shape(), Shape({kQueries, 9, 17}));
  const std::span<const float> all = masks.values<float>();
  const std::vector<double> first(all.begin(), all.begin() + 9 * 17);
  EXPECT_TRUE(all_close(all.last(9 * 17), first, 1e-4));  // sums of 600 products up to 10
  EXPECT_FALSE(all_close(all.subspan(9 * 17, 9 * 17), first, 1e-3));
}

TEST(MaskHead, RefusesWidthsThatItsNormsCannotDivide) {
  const AttentionSizes sizes{.width = 24, .heads = 8, .kv_heads = 8, .head_dim = 3};
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "12 channels in 8 groups", [&] {
    MaskHead(mask_weights(24, 8, {5, 4, 3}), config(), sizes, {5, 4, 3});
  }));
}

}  // namespace
}  // namespace fovea
