#include "fovea/layers/t5_stack.h"

#include <gtest/gtest.h>

#include "fovea/layers/attention_cache.h"
#include "fovea/layers/encoded_source.h"
#include "support/compare.h"
#include "support/errors.h"
#include "support/memory_source.h"
#include "support/random.h"

namespace fovea {
namespace {

using fovea::support::random_tensor;

constexpr int64_t kBuckets = 8, kT5Heads = 2, kT5Width = 6, kT5HeadDim = 4;

Config t5_config(std::string_view more = "") {
  return Config(Json::parse(fmt::format(R"({{"d_model": 6, "num_heads": 2, "d_kv": 4, "d_ff": 5,
                                   "num_layers": 2, "relative_attention_num_buckets": 8,
                                   "relative_attention_max_distance": 20{}}})",
                                        more),
                            "config.json"),
                "config.json");
}

LayerSource t5_source(std::vector<NamedTensor> tensors) {
  return {Weights(std::make_shared<MemorySource>(std::move(tensors))), DType::kF32};
}

// The number that row `row` of a step adds at column `column`.
float bias_at(const DistanceTable& table, int64_t rows, int64_t head, int64_t row, int64_t column) {
  return table.values.matrix<float>().row(
      head)[table.index[static_cast<size_t>(column - row + rows - 1)]];
}

TEST(T5DistanceBias, NearDistancesHaveABucketEachAndFarOnesShare) {
  const Tensor weight = random_tensor({kBuckets, kT5Heads}, 1);
  const auto entry = [&](int64_t head, int64_t bucket) {
    return weight.matrix<float>().row(bucket)[head];
  };
  // By hand: an encoder has 4 buckets for each direction, 2 of them exact; the edges of the others
  // lie at 2 * 10^(1/2) = 6.3. A decoder has 4 exact ones, then edges at 4 * 5^(n/4).
  const T5DistanceBias both(t5_source({{"weight", weight}}), t5_config(), kT5Heads, true);
  const T5DistanceBias back(t5_source({{"weight", weight}}), t5_config(), kT5Heads, false);
  const DistanceTable encoder = both({}, 30), decoder = back({}, 30);
  ASSERT_EQ(encoder.index.size(), 59U);
  for (int64_t head = 0; head < kT5Heads; ++head) {
    for (const auto& [distance, bucket] : {std::pair<int64_t, int64_t>{0, 0},
                                           {-1, 1},
                                           {-2, 2},
                                           {-6, 2},
                                           {-7, 3},
                                           {-29, 3},
                                           {1, 5},
                                           {2, 6},
                                           {6, 6},
                                           {7, 7},
                                           {29, 7}}) {
      EXPECT_EQ(
          bias_at(encoder, 30, head, distance < 0 ? -distance : 0, distance < 0 ? 0 : distance),
          entry(head, bucket))
          << distance;
    }
    for (const auto& [distance, bucket] : {std::pair<int64_t, int64_t>{0, 0},
                                           {1, 1},
                                           {3, 3},
                                           {4, 4},
                                           {5, 4},
                                           {6, 5},
                                           {8, 5},
                                           {9, 6},
                                           {13, 6},
                                           {14, 7},
                                           {29, 7}}) {
      EXPECT_EQ(bias_at(decoder, 30, head, distance, 0), entry(head, bucket)) << distance;
    }
  }
}

TEST(T5DistanceBias, AStepSeesTheDistancesOfTheWhole) {
  const Tensor weight = random_tensor({kBuckets, kT5Heads}, 1);
  const T5DistanceBias bias(t5_source({{"weight", weight}}), t5_config(), kT5Heads, false);
  const DistanceTable whole = bias({}, 12);
  AttentionCache cache;
  cache.branch(std::vector<int64_t>{0, 0, 0});
  cache.advance(9);
  const int64_t rows = 3;
  const DistanceTable step = bias({.cache = &cache}, 3 * rows);  // of three hypotheses
  ASSERT_EQ(step.index.size(), static_cast<size_t>(rows + 12 - 1));
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column <= 9 + row; ++column) {
      EXPECT_EQ(bias_at(step, rows, 1, row, column), bias_at(whole, 12, 1, 9 + row, column));
    }
  }
}

// A stack whose products are all 0, so that only its last norm changes anything.
std::vector<NamedTensor> empty_stack(bool decoder, bool gated, bool bias_in_each) {
  std::vector<NamedTensor> tensors{{"final_layer_norm.weight", random_tensor({kT5Width}, 3)}};
  for (int layer = 0; layer < 2; ++layer) {
    const std::string block = fmt::format("block.{}.layer.", layer);
    const auto attention = [&](const std::string& name) {
      for (const char* part : {"q", "k", "v"}) {
        tensors.push_back(
            {name + part + ".weight", Tensor(Shape{kT5Heads * kT5HeadDim, kT5Width})});
      }
      tensors.push_back({name + "o.weight", Tensor(Shape{kT5Width, kT5Heads * kT5HeadDim})});
    };
    attention(block + "0.SelfAttention.");
    if (layer == 0 || bias_in_each) {
      tensors.push_back({block + "0.SelfAttention.relative_attention_bias.weight",
                         random_tensor({kBuckets, kT5Heads}, 4)});
    }
    if (decoder) attention(block + "1.EncDecAttention.");
    const std::string last = block + (decoder ? "2." : "1.");
    const std::vector<std::string> inner =
        gated ? std::vector<std::string>{"wi_0", "wi_1"} : std::vector<std::string>{"wi"};
    for (const std::string& part : inner) {
      tensors.push_back({last + "DenseReluDense." + part + ".weight", Tensor(Shape{5, kT5Width})});
    }
    tensors.push_back({last + "DenseReluDense.wo.weight", Tensor(Shape{kT5Width, 5})});
    for (int part = 0; part < (decoder ? 3 : 2); ++part) {
      tensors.push_back(
          {fmt::format("{}{}.layer_norm.weight", block, part), random_tensor({kT5Width}, 5)});
    }
  }
  return tensors;
}

TEST(T5Stack, AnEmptyStackGivesTheNormOfItsInput) {
  const Tensor x = random_tensor({5, kT5Width}, 9);
  const EncodedSource source{random_tensor({3, kT5Width}, 10), {1, 0, 1}};
  for (const bool decoder : {false, true}) {
    const auto tensors = empty_stack(decoder, decoder, decoder);
    const T5StackOptions options{.site = decoder ? SiteKind::kDecoderSelf : SiteKind::kEncoderSelf,
                                 .bias_per_layer = decoder,
                                 .feed_forward = decoder ? "gated-gelu" : "relu"};
    const T5Stack stack(t5_source(tensors), t5_config(), options);
    const Norm norm = Norm::rms(t5_source({{"weight", tensors[0].tensor}}), kT5Width, 1e-6);
    const Value found = stack({}, x, {}, decoder ? &source : nullptr);
    EXPECT_EQ(fovea::support::to_doubles(found.tensor), fovea::support::to_doubles(norm(x).tensor));
  }
}

TEST(T5Stack, ABiasInEachLayerMustBeThere) {
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "block.1.layer.0.SelfAttention.relative", [] {
    T5Stack(t5_source(empty_stack(false, false, false)), t5_config(), {.bias_per_layer = true});
  }));
}

TEST(T5Stack, TheRuleOfEveryLayerHasTheSharedBiasAndNoScale) {
  const T5Stack stack(t5_source(empty_stack(true, false, false)), t5_config(),
                      {.site = SiteKind::kDecoderSelf});
  const EncodedSource source{random_tensor({3, kT5Width}, 10), {1, 0, 1}};
  Recorder recorder;
  stack({.recorder = &recorder}, random_tensor({5, kT5Width}, 9), {}, &source);
  const auto records = recorder.take();
  ASSERT_EQ(records.size(), 4U);
  for (const auto& record : records) {
    EXPECT_EQ(record->rule.scale, 1);
    const bool cross = record->site.kind == SiteKind::kCross;
    EXPECT_EQ(std::holds_alternative<DistanceTable>(record->rule.bias), !cross);
    EXPECT_EQ(record->rule.mask.allows(0, 1), false);  // ahead, and padding of the source
    EXPECT_EQ(record->rule.mask.allows(0, 2), cross);
  }
}

}  // namespace
}  // namespace fovea
