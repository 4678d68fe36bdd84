#include "fovea/explain/model_steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <random>

#include "fovea/base/error.h"
#include "fovea/engine/engine.h"
#include "fovea/engine/input_file.h"
#include "fovea/io/safetensors.h"
#include "support/data.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;
using testing::DoubleNear;
using testing::Each;
using testing::HasSubstr;
using testing::Pointwise;

RunResult run_fixture(const fs::path& folder, const std::string& suffix = "") {
  const Engine engine = Engine::open(folder.string());
  RunOptions options;
  options.record = {.outputs = true, .block = true};
  return engine.run(read_inputs(folder / ("inputs" + suffix + ".safetensors")), options);
}

class ModelStepsOfFixture : public testing::TestWithParam<const char*> {
 protected:
  fs::path folder() const { return test_data("parity") / GetParam(); }
};

// All of them: dense and grouped heads, rotation, norms of q and k, windows, padding, soft caps.
INSTANTIATE_TEST_SUITE_P(Parity, ModelStepsOfFixture,
                         testing::Values("bert_model", "gpt2_lm", "llama_gqa", "mistral_window",
                                         "qwen3_lm", "gemma3_text", "gemma3_softcap",
                                         "gpt_neox_parallel", "vit_model", "dinov2_registers",
                                         "clip_model", "siglip_model"),
                         [](const auto& fixture) { return std::string(fixture.param); });

TEST_P(ModelStepsOfFixture, WeightsAreThoseOfTransformers) {
  for (const std::string suffix : {"", "-1", "-2"}) {
    if (!fs::exists(folder() / ("inputs" + suffix + ".safetensors"))) break;
    SCOPED_TRACE(suffix);
    const RunResult result = run_fixture(folder(), suffix);
    const SafetensorsFile expected =
        SafetensorsFile::open(folder() / ("expected" + suffix + ".safetensors"));
    for (const auto& record : result.run.records) {
      const Tensor maps = expected.tensor(to_string(record->site));
      const AttentionShape shape = record->shape();
      for (int64_t head = 0; head < shape.heads; ++head) {
        for (const int64_t row : {int64_t{0}, shape.rows / 2, shape.rows - 1}) {
          const ModelSteps steps = model_steps(record, head, row);
          for (int64_t j = 0; j < shape.cols; ++j) {
            const float wanted = maps.matrix<float>(head)(row, j);
            if (std::isnan(wanted)) continue;  // a row that transformers leaves undefined
            // The contract of all maps.
            ASSERT_NEAR(steps.weights[static_cast<size_t>(j)], wanted, 1e-5)
                << to_string(record->site) << " head " << head << " row " << row;
          }
        }
      }
    }
  }
}

TEST_P(ModelStepsOfFixture, HeadsThroughTheOutputWeightGiveWhatTheLayerGives) {
  const RunResult result = run_fixture(folder());
  for (const auto& record : result.run.records) {
    const AttentionShape shape = record->shape();
    const int64_t row = shape.rows - 1;
    std::vector<double> sum;
    double largest = 1;
    ModelSteps steps;
    for (int64_t head = 0; head < shape.heads; ++head) {
      steps = model_steps(record, head, row);
      ASSERT_TRUE(steps.output_difference.has_value());
      for (const double value : steps.output) largest = std::max(largest, std::abs(value));
      // The model's heads are f32 sums of a few dozen products.
      EXPECT_LE(*steps.output_difference, 1e-5 * largest);
      sum.resize(steps.output.size());
      for (size_t i = 0; i < sum.size(); ++i) sum[i] += steps.head_output[i];
    }
    for (size_t i = 0; i < sum.size() && !steps.output_bias.empty(); ++i) {
      sum[i] += steps.output_bias[i];
    }
    // The same sums in double, in another order.
    EXPECT_THAT(sum, Pointwise(DoubleNear(1e-9 * largest), steps.output));
    if (record->site.kind == SiteKind::kPool) continue;  // which asks for something learned
    const Tensor& input = record->block->input;
    EXPECT_THAT(steps.x,
                Pointwise(testing::Eq(),
                          std::vector<float>(input.matrix<float>().row(row),
                                             input.matrix<float>().row(row) + input.size(1))));
  }
}

// A record of random vectors whose LSE is computed naively from its rule.
AttentionRecord random_record(ScoreRule rule) {
  const AttentionShape shape{
      .heads = 4, .kv_heads = 2, .rows = 5, .cols = 5, .head_dim = 3, .value_dim = 2};
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  const auto tensor = [&](const Shape& sizes) {
    Tensor filled(sizes);
    for (float& value : filled.mutable_values<float>()) value = normal(random);
    return filled;
  };
  AttentionRecord record;
  record.queries = tensor({shape.heads, shape.rows, shape.head_dim});
  record.keys = tensor({shape.kv_heads, shape.cols, shape.head_dim});
  record.values = tensor({shape.kv_heads, shape.cols, shape.value_dim});
  record.rule = std::move(rule);
  record.lse = Tensor({shape.heads, shape.rows}, DType::kF64);
  for (int64_t h = 0; h < shape.heads; ++h) {
    for (int64_t i = 0; i < shape.rows; ++i) {
      double sum = record.rule.sink_logit.empty()
                       ? 0
                       : std::exp(double{record.rule.sink_logit[static_cast<size_t>(h)]});
      for (int64_t j = 0; j < shape.cols; ++j) {
        sum += std::exp(reference_score(record.rule, shape, h, i, j,
                                        {record.queries.matrix<float>(h).row(i), 3},
                                        {record.keys.matrix<float>(shape.kv_head(h)).row(j), 3}));
      }
      record.lse.mutable_matrix<double>()(h, i) = sum > 0 ? std::log(sum) : 0;
    }
  }
  validate(record);
  return record;
}

ModelSteps steps_of(const AttentionRecord& record, int64_t head, int64_t row,
                    const std::optional<Similarity>& similarity = {}) {
  return model_steps(std::make_shared<const AttentionRecord>(record), head, row, similarity);
}

TEST(ModelSteps, TellEveryStageOfTheDefinition) {
  const AttentionRecord record = random_record({.scale = 0.5F, .mask = Mask::causal()});
  const ModelSteps steps = steps_of(record, 3, 2);
  EXPECT_EQ(steps.kv_head, 1);
  double total = 0;
  std::vector<double> z(2);
  for (int64_t j = 0; j < 5; ++j) {
    const auto c = static_cast<size_t>(j);
    double score = 0;
    for (int64_t d = 0; d < 3; ++d) {
      const double product = double{record.queries.matrix<float>(3)(2, d)} *
                             double{record.keys.matrix<float>(1)(j, d)};
      EXPECT_EQ(steps.products(j, d), product);
      score += product;
    }
    EXPECT_DOUBLE_EQ(steps.scores[c], score);
    EXPECT_DOUBLE_EQ(steps.scaled[c], score / 2);
    EXPECT_EQ(steps.allowed(j), j <= 2);
    if (j > 2) {
      EXPECT_EQ(steps.weights[c], 0);
    } else {
      EXPECT_DOUBLE_EQ(steps.masked[c], score / 2);
      total += std::exp(score / 2);
      for (size_t d = 0; d < 2; ++d) {
        z[d] += std::exp(score / 2) * record.values.matrix<float>(1)(j, static_cast<int64_t>(d));
      }
    }
  }
  EXPECT_NEAR(steps.sum, 1, 1e-12);
  EXPECT_NEAR(steps.z[0], z[0] / total, 1e-12);
  EXPECT_NEAR(steps.z[1], z[1] / total, 1e-12);
  EXPECT_TRUE(steps.bias.empty() && steps.capped.empty() && steps.output.empty());
  EXPECT_LE(steps.map_difference, 1e-7);  // the captured row is f32
}

TEST(ModelSteps, ShowBiasAndCapAsStagesOfTheirOwn) {
  const AttentionRecord record =
      random_record({.scale = 2, .bias = AlibiSlopes{{0.1F, 0.2F, 0.3F, 0.5F}}, .soft_cap = 3});
  const ModelSteps steps = steps_of(record, 3, 1);
  for (size_t j = 0; j < 5; ++j) {
    const double bias = -0.5 * std::abs(1 - static_cast<double>(j));
    EXPECT_NEAR(steps.bias[j], bias, 1e-12);
    const double capped = 3 * std::tanh((steps.scaled[j] + bias) / 3);
    EXPECT_NEAR(steps.capped[j], capped, 1e-12);
    EXPECT_EQ(steps.masked[j], steps.capped[j]);
  }
  EXPECT_LE(steps.map_difference, 1e-7);
}

TEST(ModelSteps, LeaveToASinkWhatItTakes) {
  const AttentionRecord record = random_record({.sink_logit = {0, 1, 2, 3}});
  const ModelSteps steps = steps_of(record, 2, 0);
  double keys = 0;
  for (const double score : steps.masked) keys += std::exp(score);
  EXPECT_NEAR(steps.sum, keys / (keys + std::exp(2.0)), 1e-12);
  EXPECT_LE(steps.map_difference, 1e-7);
}

TEST(ModelSteps, ARowThatSeesNothingHasNoWeights) {
  const AttentionRecord record = random_record({.mask = {.key_valid = {0, 0, 0, 0, 0}}});
  const ModelSteps steps = steps_of(record, 0, 0);
  EXPECT_THAT(steps.weights, Each(0.0));
  EXPECT_THAT(steps.z, Each(0.0));
  EXPECT_EQ(steps.sum, 0);
}

TEST(ModelSteps, AnotherSimilarityKeepsQueriesKeysAndMaskButNotTheRule) {
  const AttentionRecord record = random_record(
      {.scale = 2, .mask = Mask::causal(), .bias = AlibiSlopes{{1, 1, 1, 1}}, .soft_cap = 3});
  const ModelSteps own = steps_of(record, 1, 3);
  const ModelSteps cosine = steps_of(record, 1, 3, Cosine{});
  double total = 0;
  std::vector<double> weights;
  for (int64_t j = 0; j < 5; ++j) {
    const auto key = own.k.row(j);
    const double score = dot(own.q, key) / std::sqrt(dot(own.q, own.q)) / std::sqrt(dot(key, key));
    EXPECT_NEAR(cosine.scores[static_cast<size_t>(j)], score, 1e-12);
    weights.push_back(j <= 3 ? std::exp(score) : 0);
    total += weights.back();
  }
  for (double& weight : weights) weight /= total;
  EXPECT_THAT(cosine.weights, Pointwise(DoubleNear(1e-12), weights));
  EXPECT_EQ(cosine.captured, own.captured);
  EXPECT_TRUE(cosine.bias.empty() && cosine.capped.empty() && cosine.output.empty());
  EXPECT_EQ(steps_of(record, 1, 3, DotProduct{}).scaled, own.scores);
}

TEST(ModelSteps, AMapThatIsNotTheDefinitionIsAnError) {
  AttentionRecord record = random_record({});
  record.lse = record.lse.clone();
  record.lse.mutable_matrix<double>()(1, 2) += 1e-3;
  EXPECT_NO_THROW(steps_of(record, 1, 1));
  try {
    steps_of(record, 1, 2);
    FAIL() << "accepted a wrong map";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInternal);
    EXPECT_THAT(error.what(), HasSubstr("self.0, head 1, row 2"));
  }
}

TEST(ModelSteps, WhatIsNotThereIsRefused) {
  AttentionRecord record = random_record({});
  EXPECT_THROW(steps_of(record, 4, 0), Error);
  EXPECT_THROW(steps_of(record, -1, 0), Error);
  EXPECT_THROW(steps_of(record, 0, 5), Error);
  record.values = {};
  EXPECT_THROW(steps_of(record, 0, 0), Error);
}

TEST(ModelSteps, KnowsHowQueriesKeysAndValuesAreMade) {
  const auto steps_of = [](const char* name, SiteId site) {
    const RunResult result = run_fixture(test_data("parity") / name);
    return model_steps(result.run.record(site), 0, 0);
  };
  const ModelSteps bert = steps_of("bert_model", {SiteKind::kSelf, 0});
  EXPECT_FALSE(bert.pre_norm);
  EXPECT_TRUE(bert.query_bias && bert.key_bias && bert.value_bias);
  const ModelSteps gpt2 = steps_of("gpt2_lm", {SiteKind::kSelf, 0});  // one matrix for all three
  EXPECT_TRUE(gpt2.pre_norm);
  EXPECT_TRUE(gpt2.query_bias && gpt2.key_bias && gpt2.value_bias);
  const ModelSteps llama = steps_of("llama_gqa", {SiteKind::kSelf, 0});
  EXPECT_TRUE(llama.pre_norm);
  EXPECT_FALSE(llama.query_bias || llama.key_bias || llama.value_bias);
  const ModelSteps dinov3 = steps_of("dinov3_model", {SiteKind::kSelf, 0});
  EXPECT_TRUE(dinov3.query_bias && dinov3.value_bias);
  EXPECT_FALSE(dinov3.key_bias);
  const ModelSteps pool = steps_of("siglip_model", {SiteKind::kPool, 0});
  EXPECT_FALSE(pool.pre_norm);
  EXPECT_TRUE(pool.x.empty());  // what asks is learned, and no row of the block's input
}

}  // namespace
}  // namespace fovea
