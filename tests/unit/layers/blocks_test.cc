// The parts that blocks are made of, against the same in double.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "fovea/layers/attention_layer.h"
#include "fovea/layers/bert_encoder.h"
#include "fovea/layers/feed_forward.h"
#include "fovea/layers/rope_decoder.h"
#include "fovea/layers/text_mask.h"
#include "support/compare.h"
#include "support/errors.h"
#include "support/memory_source.h"
#include "support/random.h"

namespace fovea {
namespace {

using fovea::support::all_close;
using fovea::support::random_tensor;

constexpr int64_t kBlockTokens = 4, kBlockWidth = 12;

LayerSource block_source(std::vector<NamedTensor> tensors) {
  return {Weights(std::make_shared<MemorySource>(std::move(tensors))), DType::kF32};
}

Config block_config(std::string_view json) {
  return Config(Json::parse(json, "config.json"), "config.json");
}

std::vector<double> product(const std::vector<double>& x, const Tensor& weight,
                            const Tensor& bias = {}) {
  const int64_t in = weight.size(1), out = weight.size(0);
  std::vector<double> result;
  for (size_t row = 0; row < x.size() / static_cast<size_t>(in); ++row) {
    for (int64_t o = 0; o < out; ++o) {
      double sum = bias.empty() ? 0 : double{bias.values<float>()[static_cast<size_t>(o)]};
      for (int64_t i = 0; i < in; ++i) {
        sum += x[row * static_cast<size_t>(in) + static_cast<size_t>(i)] *
               double{weight.matrix<float>().row(o)[i]};
      }
      result.push_back(sum);
    }
  }
  return result;
}

TEST(Norm, RmsDividesByTheRootOfTheMeanSquare) {
  const Tensor x = random_tensor({kBlockTokens, kBlockWidth}, 1),
               weight = random_tensor({kBlockWidth}, 2);
  for (const float offset : {0.0F, 1.0F}) {
    const Norm norm = Norm::rms(block_source({{"weight", weight}}), kBlockWidth, 1e-3, offset);
    std::vector<double> expected;
    for (int64_t row = 0; row < kBlockTokens; ++row) {
      double square = 0;
      for (int64_t i = 0; i < kBlockWidth; ++i) {
        square += std::pow(double{x.matrix<float>().row(row)[i]}, 2) / kBlockWidth;
      }
      for (int64_t i = 0; i < kBlockWidth; ++i) {
        expected.push_back(
            double{x.matrix<float>().row(row)[i]} / std::sqrt(square + 1e-3) *
            (double{weight.values<float>()[static_cast<size_t>(i)]} + double{offset}));
      }
    }
    EXPECT_TRUE(all_close(norm(x).tensor, expected, 2e-6));  // numbers up to 10 in f32
    EXPECT_TRUE(norm.bias().empty());
    EXPECT_FLOAT_EQ(norm.epsilon(), 1e-3F);
  }
}

TEST(FeedForward, IsDownOfActivationOfUpPlusResidual) {
  const Tensor x = random_tensor({kBlockTokens, kBlockWidth}, 1),
               up = random_tensor({20, kBlockWidth}, 2);
  const Tensor down = random_tensor({kBlockWidth, 20}, 3), bias = random_tensor({20}, 4);
  const Tensor residual = random_tensor({kBlockTokens, kBlockWidth}, 5);
  std::vector<double> inner = product(fovea::support::to_doubles(x), up, bias);
  for (double& value : inner) value = std::max(value, 0.0);
  std::vector<double> expected = product(inner, down);
  for (size_t i = 0; i < expected.size(); ++i) {
    expected[i] += double{residual.values<float>()[i]};
  }
  const FeedForward layer(ops::Linear(up, bias), ops::Linear(down), Activation::kRelu);
  // Sums of 20 products of numbers up to 10.
  EXPECT_TRUE(all_close(layer(x, residual).tensor, expected, 5e-5));
}

TEST(FeedForward, AGateMultipliesUp) {
  const Tensor x = random_tensor({kBlockTokens, kBlockWidth}, 1),
               gate = random_tensor({20, kBlockWidth}, 2);
  const Tensor up = random_tensor({20, kBlockWidth}, 3), down = random_tensor({kBlockWidth, 20}, 4);
  const std::vector<double> gates = product(fovea::support::to_doubles(x), gate);
  std::vector<double> inner = product(fovea::support::to_doubles(x), up);
  for (size_t i = 0; i < inner.size(); ++i) inner[i] *= gates[i] / (1 + std::exp(-gates[i]));
  const GatedFeedForward layer(
      block_source(
          {{"gate_proj.weight", gate}, {"up_proj.weight", up}, {"down_proj.weight", down}}),
      kBlockWidth, 20, Activation::kSilu, /*bias=*/false);
  EXPECT_TRUE(all_close(layer(x).tensor, product(inner, down), 3e-4));  // numbers up to 100
}

// q, k and v of 3 heads over 1 key head, apart or as one matrix.
struct Projections {
  Tensor query = random_tensor({kBlockWidth, kBlockWidth}, 11, 0.4F);
  Tensor key = random_tensor({4, kBlockWidth}, 12, 0.4F);
  Tensor value = random_tensor({4, kBlockWidth}, 13, 0.4F);
  Tensor output = random_tensor({kBlockWidth, kBlockWidth}, 14, 0.4F);

  Tensor joined() const {
    Tensor all(Shape{kBlockWidth + 8, kBlockWidth});
    float* to = all.mutable_values<float>().data();
    for (const Tensor* part : {&query, &key, &value}) {
      to = std::copy(part->values<float>().begin(), part->values<float>().end(), to);
    }
    return all;
  }
};

constexpr AttentionSizes kBlockSizes{
    .width = kBlockWidth, .heads = 3, .kv_heads = 1, .head_dim = 4};

TEST(AttentionLayer, OneMatrixForAllIsThreeSideBySide) {
  const Projections p;
  const Tensor x = random_tensor({kBlockTokens, kBlockWidth}, 1);
  const AttentionSetting setting{.rule = text_rule({}, 0.5F, {.causal = true})};
  AttentionLayer apart(kBlockSizes,
                       {ops::Linear(p.query), ops::Linear(p.key), ops::Linear(p.value)},
                       ops::Linear(p.output));
  AttentionLayer joined(kBlockSizes, {ops::Linear(p.joined())}, ops::Linear(p.output));
  const SiteId site{SiteKind::kSelf, 0};
  EXPECT_TRUE(all_close(joined({}, site, x, setting).tensor,
                        fovea::support::to_doubles(apart({}, site, x, setting).tensor), 1e-6));
}

TEST(AttentionLayer, TheBlockIsKeptOnRequest) {
  const Projections p;
  const Tensor x = random_tensor({kBlockTokens, kBlockWidth}, 1),
               residual = random_tensor({kBlockTokens, kBlockWidth}, 2);
  AttentionLayer layer(kBlockSizes, {ops::Linear(p.joined())}, ops::Linear(p.output));
  const AttentionSetting setting{.rule = text_rule({}, 0.5F, {})};
  const Norm norm = Norm::layer(block_source({{"weight", random_tensor({kBlockWidth}, 3)},
                                              {"bias", random_tensor({kBlockWidth}, 4)}}),
                                kBlockWidth, 1e-6);
  Recorder recorder({.block = true});
  layer({.recorder = &recorder}, {SiteKind::kSelf, 0}, x, setting, residual, &norm);
  layer({.recorder = &recorder}, {SiteKind::kSelf, 1}, x, setting);
  const Value later = residual;
  layer({.recorder = &recorder}, {SiteKind::kSelf, 2}, x,
        {.rule = setting.rule, .added_later = &later}, {}, &norm);
  const auto records = recorder.take();
  ASSERT_TRUE(records.at(0)->block && records.at(1)->block && records.at(2)->block);
  const BlockContext& block = *records[0]->block;
  EXPECT_EQ(block.input.raw(), residual.raw());
  EXPECT_TRUE(all_close(block.output_weight, fovea::support::to_doubles(p.output), 0));
  EXPECT_EQ(block.norm_weight.raw(), norm.weight().raw());
  EXPECT_FALSE(block.norm_before_residual);
  EXPECT_TRUE(records[1]->block->input.empty());  // nothing is added
  EXPECT_TRUE(records[1]->block->norm_weight.empty());
  EXPECT_EQ(records[2]->block->input.raw(), residual.raw());
  EXPECT_TRUE(records[2]->block->norm_before_residual);
}

TEST(AttentionLayer, NormsOfHeadsComeBeforeTheRotation) {
  const Projections p;
  const Tensor x = random_tensor({kBlockTokens, kBlockWidth}, 1);
  AttentionLayer layer(kBlockSizes, {ops::Linear(p.joined())}, ops::Linear(p.output));
  const Tensor weight = Tensor::from<float>({4}, std::vector<float>{2, 1, 1, 1});
  layer.set_head_norms(Norm::rms(block_source({{"weight", weight}}), 4, 0),
                       Norm::rms(block_source({{"weight", weight}}), 4, 0));
  const RotaryTable table = RotaryEmbedding::plain(4, 100).table(token_positions({}, kBlockTokens));
  Recorder recorder;
  layer({.recorder = &recorder}, {SiteKind::kSelf, 0}, x,
        {.rule = text_rule({}, 0.5F, {}), .rotary = table});
  const std::vector<double> plain = product(fovea::support::to_doubles(x), p.query);
  const size_t row = 3, head = 2;
  std::vector<double> q(plain.begin() + row * kBlockWidth + head * 4,
                        plain.begin() + row * kBlockWidth + head * 4 + 4);
  double square = 0;
  for (const double value : q) square += value * value / 4;
  for (double& value : q) value /= std::sqrt(square);
  q[0] *= 2;
  for (const size_t pair : {size_t{0}, size_t{1}}) {
    const double angle = 3 * std::pow(100.0, -0.5 * static_cast<double>(pair));
    const double a = q[pair], b = q[pair + 2];
    q[pair] = a * std::cos(angle) - b * std::sin(angle);
    q[pair + 2] = b * std::cos(angle) + a * std::sin(angle);
  }
  const auto records = recorder.take();
  const float* found = records.at(0)->queries.matrix<float>(head).row(row);
  EXPECT_TRUE(all_close(std::span(found, 4), q, 2e-6));
}

TEST(AttentionSizes, AreReadAndChecked) {
  const AttentionSizes sizes = AttentionSizes::grouped_heads(
      block_config(R"({"hidden_size": 24, "num_attention_heads": 6, "num_key_value_heads": 2})"));
  EXPECT_EQ(sizes.head_dim, 4);
  EXPECT_EQ(sizes.kv_heads, 2);
  EXPECT_EQ(
      AttentionSizes::equal_heads(block_config(R"({"dim": 24, "n_heads": 6})"), "dim", "n_heads")
          .kv_heads,
      6);
  const auto refused = [](std::string_view json, ErrorKind kind, std::string_view part) {
    return fails_with(kind, part, [&] { AttentionSizes::grouped_heads(block_config(json)); });
  };
  EXPECT_TRUE(refused(R"({"hidden_size": 24, "num_attention_heads": 5})", ErrorKind::kBadFile,
                      "hidden_size is 24 and num_attention_heads 5"));
  EXPECT_TRUE(refused(R"({"hidden_size": 24, "num_attention_heads": 6, "num_key_value_heads": 4})",
                      ErrorKind::kBadFile, "num_attention_heads is 6 and num_key_value_heads 4"));
  EXPECT_TRUE(refused(R"({"hidden_size": 24, "num_attention_heads": 6, "head_dim": 100000})",
                      ErrorKind::kUnsupported, "100000"));
}

std::vector<int64_t> numbers(const std::vector<std::optional<int64_t>>& windows) {
  std::vector<int64_t> result;
  for (const auto& window : windows) result.push_back(window.value_or(0));
  return result;
}

TEST(Windows, ComeFromLayerTypesOrFromTheUpperLayers) {
  const Config types = block_config(R"({"num_hidden_layers": 3, "sliding_window": 5, "layer_types":
      ["full_attention", "sliding_attention", "full_attention"]})");
  EXPECT_EQ(numbers(layer_windows(types, {})), (std::vector<int64_t>{0, 5, 0}));
  EXPECT_EQ(numbers(upper_layer_windows(types)), (std::vector<int64_t>{0, 5, 0}));
  const Config upper = block_config(R"({"num_hidden_layers": 3, "sliding_window": 5,
      "use_sliding_window": true, "max_window_layers": 1})");
  EXPECT_EQ(numbers(upper_layer_windows(upper)), (std::vector<int64_t>{0, 5, 5}));
  const Config off = block_config(R"({"num_hidden_layers": 2, "sliding_window": 5,
      "use_sliding_window": false, "max_window_layers": 0})");
  EXPECT_EQ(numbers(upper_layer_windows(off)), (std::vector<int64_t>{0, 0}));
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "2 entries but num_hidden_layers is 3", [] {
    layer_windows(block_config(R"({"num_hidden_layers": 3, "layer_types":
        ["full_attention", "full_attention"]})"),
                  {});
  }));
}

TEST(ActivationNamed, KnowsTheNamesOfConfigurations) {
  EXPECT_EQ(activation_named(block_config(R"({"hidden_act": "gelu_new"})"), "hidden_act", "relu"),
            Activation::kGeluTanh);
  EXPECT_EQ(activation_named(block_config("{}"), "hidden_act", "relu"), Activation::kRelu);
  EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, "'hidden_act' is 'swiglu'", [] {
    activation_named(block_config(R"({"hidden_act": "swiglu"})"), "hidden_act", "relu");
  }));
}

TEST(BertEmbeddings, AreTheNormOfTheSumOfThree) {
  const Tensor words = random_tensor({5, kBlockWidth}, 1),
               positions = random_tensor({6, kBlockWidth}, 2);
  const Tensor segments = random_tensor({2, kBlockWidth}, 3);
  const std::vector<float> ones(kBlockWidth, 1);
  const BertEmbeddings embed(
      block_source({{"word_embeddings.weight", words},
                    {"position_embeddings.weight", positions},
                    {"token_type_embeddings.weight", segments},
                    {"LayerNorm.weight", Tensor::from<float>({kBlockWidth}, ones)},
                    {"LayerNorm.bias", Tensor(Shape{kBlockWidth})}}),
      block_config(R"({"vocab_size": 5, "max_position_embeddings": 6, "layer_norm_eps": 1e-12})"),
      kBlockWidth);
  EXPECT_EQ(embed.positions(), 6);
  const std::vector<int64_t> ids{4, 2}, places{0, 5}, second{0, 1}, none;
  const Tensor found = embed({}, ids, second, places).tensor;
  std::vector<double> sum;
  for (size_t i = 0; i < kBlockWidth; ++i) {
    sum.push_back(double{words.matrix<float>().row(2)[i]} +
                  double{positions.matrix<float>().row(5)[i]} +
                  double{segments.matrix<float>().row(1)[i]});
  }
  double mean = 0, variance = 0;
  for (const double value : sum) mean += value / kBlockWidth;
  for (const double value : sum) variance += (value - mean) * (value - mean) / kBlockWidth;
  for (double& value : sum) value = (value - mean) / std::sqrt(variance + 1e-12);
  EXPECT_TRUE(all_close(std::span(found.matrix<float>().row(1), kBlockWidth), sum, 2e-6));
  // Without segments all are the first.
  EXPECT_TRUE(all_close(
      std::span(embed({}, ids, none, places).tensor.matrix<float>().row(0), kBlockWidth),
      fovea::support::to_doubles(std::span(found.matrix<float>().row(0), kBlockWidth)), 0));
}

}  // namespace
}  // namespace fovea
