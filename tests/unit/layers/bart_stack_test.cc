#include "fovea/layers/bart_stack.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/compare.h"
#include "support/errors.h"
#include "support/memory_source.h"
#include "support/random.h"

namespace fovea {
namespace {

using fovea::support::all_close;
using fovea::support::random_tensor;
using Rows = std::vector<std::vector<double>>;

constexpr int64_t kBartTokens = 4, kBartWidth = 6, kBartInner = 5;

// What one layer of either stack holds. Attention and feed-forward give their biases only, so that
// the order of norms and residuals is all there is.
std::vector<NamedTensor> stack_weights(const BartBlockOptions& options, bool decoder) {
  std::vector<NamedTensor> tensors;
  unsigned seed = 1;
  const auto linear = [&](const std::string& name, int64_t in, int64_t out, bool bias = true) {
    tensors.push_back({name + ".weight", Tensor(Shape{out, in})});
    if (bias) tensors.push_back({name + ".bias", random_tensor({out}, ++seed)});
  };
  const auto norm = [&](const std::string& name) {
    tensors.push_back({name + ".weight", random_tensor({kBartWidth}, ++seed)});
    tensors.push_back({name + ".bias", random_tensor({kBartWidth}, ++seed)});
  };
  std::vector<std::string> attentions{"layers.0.self_attn"};
  if (decoder) attentions.push_back("layers.0.encoder_attn");
  for (const std::string& name : attentions) {
    linear(name + ".q_proj", kBartWidth, kBartWidth);
    linear(name + ".k_proj", kBartWidth, kBartWidth, options.key_bias);
    linear(name + ".v_proj", kBartWidth, kBartWidth);
    linear(name + ".out_proj", kBartWidth, kBartWidth);
    norm(name + "_layer_norm");
  }
  linear("layers.0.fc1", kBartWidth, kBartInner);
  linear("layers.0.fc2", kBartInner, kBartWidth);
  norm("layers.0.final_layer_norm");
  if (options.norm_first) norm("layer_norm");
  return tensors;
}

Config stack_config() {
  return Config(Json::parse(R"({"d_model": 6, "encoder_layers": 1, "decoder_layers": 1,
                      "encoder_attention_heads": 2, "decoder_attention_heads": 3,
                      "encoder_ffn_dim": 5, "decoder_ffn_dim": 5})",
                            "config.json"),
                "config.json");
}

// The stack in double, under the same assumption: each part adds the bias of its last product.
class PlainStack {
 public:
  explicit PlainStack(const std::vector<NamedTensor>& tensors) : tensors_(tensors) {}

  Rows run(const Tensor& x, bool norm_first, const std::vector<std::string>& parts) const {
    Rows rows;
    for (int64_t i = 0; i < x.size(0); ++i) {
      rows.emplace_back(x.matrix<float>().row(i), x.matrix<float>().row(i) + kBartWidth);
    }
    for (const std::string& part : parts) {
      const bool is_last = part == "layers.0.fc2";
      const std::string bias = is_last ? part + ".bias" : part + ".out_proj.bias";
      const std::string norm_name = is_last ? "layers.0.final_layer_norm" : part + "_layer_norm";
      for (auto& row : rows) {
        for (size_t i = 0; i < row.size(); ++i) row[i] += value(bias, i);
        if (!norm_first) row = norm(row, norm_name);
      }
    }
    if (norm_first) {
      for (auto& row : rows) row = norm(row, "layer_norm");
    }
    return rows;
  }

 private:
  double value(const std::string& name, size_t i) const {
    for (const NamedTensor& tensor : tensors_) {
      if (tensor.name == name) return double{tensor.tensor.values<float>()[i]};
    }
    ADD_FAILURE() << name;
    return 0;
  }
  std::vector<double> norm(const std::vector<double>& row, const std::string& name) const {
    double mean = 0, square = 0;
    for (const double x : row) mean += x / kBartWidth;
    for (const double x : row) square += (x - mean) * (x - mean) / kBartWidth;
    std::vector<double> result;
    for (size_t i = 0; i < row.size(); ++i) {
      result.push_back((row[i] - mean) / std::sqrt(square + 1e-5) * value(name + ".weight", i) +
                       value(name + ".bias", i));
    }
    return result;
  }
  const std::vector<NamedTensor>& tensors_;
};

std::vector<double> joined(const Rows& rows) {
  std::vector<double> all;
  for (const auto& row : rows) all.insert(all.end(), row.begin(), row.end());
  return all;
}

LayerSource bart_source(const std::vector<NamedTensor>& tensors) {
  return {Weights(std::make_shared<MemorySource>(tensors)), DType::kF32};
}

TEST(BartEmbeddings, AreScaledWordsPlusPositions) {
  const Tensor words = random_tensor({9, kBartWidth}, 1),
               positions = random_tensor({8, kBartWidth}, 2);
  const BartEmbeddings embeddings{.words = words, .scale = 3, .positions = positions};
  const std::vector<int64_t> ids{4, 0, 8}, places{2, 3, 7};
  std::vector<double> expected;
  for (size_t row = 0; row < ids.size(); ++row) {
    for (int64_t i = 0; i < kBartWidth; ++i) {
      expected.push_back(3 * double{words.matrix<float>().row(ids[row])[i]} +
                         double{positions.matrix<float>().row(places[row])[i]});
    }
  }
  EXPECT_TRUE(all_close(embeddings({}, "inputs_embeds", ids, places).tensor, expected,
                        2e-6));  // two roundings
}

TEST(BartStack, NormsStandWhereTheOptionsPutThem) {
  const Tensor x = random_tensor({kBartTokens, kBartWidth}, 77);
  for (const bool norm_first : {false, true}) {
    SCOPED_TRACE(norm_first);
    const BartBlockOptions options{.norm_first = norm_first};
    const auto of_encoder = stack_weights(options, false),
               of_decoder = stack_weights(options, true);
    const BartEncoder encoder(bart_source(of_encoder), stack_config(), options);
    const BartDecoder decoder(bart_source(of_decoder), stack_config(), options);
    EXPECT_EQ(encoder.layers(), 1);
    EXPECT_EQ(decoder.sizes().heads, 3);
    // A few roundings of numbers around 3.
    EXPECT_TRUE(all_close(
        encoder({}, x, {}).tensor,
        joined(PlainStack(of_encoder).run(x, norm_first, {"layers.0.self_attn", "layers.0.fc2"})),
        1e-5));
    const EncodedSource source{random_tensor({2, kBartWidth}, 5), {}};
    EXPECT_TRUE(
        all_close(decoder({}, x, source, {}).tensor,
                  joined(PlainStack(of_decoder)
                             .run(x, norm_first,
                                  {"layers.0.self_attn", "layers.0.encoder_attn", "layers.0.fc2"})),
                  1e-5));
  }
}

TEST(BartStack, KeysHaveABiasUnlessTheOptionsSayNo) {
  const BartBlockOptions without{.norm_first = true, .key_bias = false};
  const auto tensors = stack_weights(without, true);
  EXPECT_NO_THROW(BartDecoder(bart_source(tensors), stack_config(), without));
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "k_proj.bias", [&] {
    BartDecoder(bart_source(tensors), stack_config(), {.norm_first = true});
  }));
}

}  // namespace
}  // namespace fovea
