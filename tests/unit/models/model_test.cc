#include "fovea/models/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <thread>

#include "fovea/base/watch.h"
#include "fovea/layers/attention_cache.h"
#include "fovea/models/deberta_model.h"
#include "fovea/models/decoder_model.h"
#include "fovea/models/gemma_model.h"
#include "support/errors.h"
#include "support/fixture_models.h"
#include "support/memory_source.h"

namespace fovea {
namespace {

using ::testing::ElementsAre;

Config config_of(std::string_view json) {
  return Config(Json::parse(json, "config.json"), "config.json");
}

ModelInputs inputs_of(std::vector<int64_t> ids) {
  return {.input_ids = std::move(ids), .token_type_ids = {}, .attention_mask = {}};
}

TEST(Architectures, AnUnknownTypeListsThoseThereAre) {
  const Config config = config_of(R"({"model_type": "mamba"})");
  EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, "config.json: model_type is 'mamba'",
                         [&] { architecture_named(config); }));
  for (const Architecture& architecture : all_architectures()) {
    for (const std::string& type : architecture.model_types) {
      EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, type, [&] { architecture_named(config); }));
    }
  }
}

TEST(Architectures, EveryTypeLeadsToOneArchitecture) {
  std::set<std::string> types;
  for (const Architecture& architecture : all_architectures()) {
    EXPECT_FALSE(architecture.covers.empty()) << architecture.name;
    for (const std::string& type : architecture.model_types) {
      EXPECT_TRUE(types.insert(type).second) << type;
      Json json = Json::object();
      json.set("model_type", type);
      EXPECT_EQ(architecture_named(Config(json, "x")).name, architecture.name);
    }
  }
  EXPECT_TRUE(types.contains("xlm-roberta"));
}

TEST(ModelSource, TheConfigurationNamesTheHeadAndOtherwiseTheWeights) {
  const Weights weights(std::make_shared<MemorySource>(
      std::vector<NamedTensor>{{"lm_head.weight", Tensor(Shape{1})}}));
  const ModelSource named{config_of(R"({"architectures": ["GPT2LMHeadModel"]})"), {weights}};
  EXPECT_TRUE(named.is("LMHeadModel", "nothing"));
  EXPECT_FALSE(named.is("ForCausalLM", "lm_head.weight"));
  const ModelSource unnamed{config_of("{}"), {weights}};
  EXPECT_TRUE(unnamed.is("ForCausalLM", "lm_head.weight"));
  EXPECT_FALSE(unnamed.is("ForCausalLM", ""));
}

TEST(LabelCount, NamesCountAndPlaceholdersOnlyWithoutANumber) {
  EXPECT_EQ(label_count(config_of(R"({"id2label": {"0": "a", "1": "b", "2": "c"}})")), 3);
  EXPECT_EQ(label_count(config_of(R"({"num_labels": 7, "id2label": {"0": "a", "1": "b"}})")), 2);
  EXPECT_EQ(
      label_count(config_of(R"({"num_labels": 50, "id2label": {"0": "LABEL_0", "1": "LABEL_1"}})")),
      50);
  EXPECT_EQ(label_count(config_of(R"({"id2label": {"0": "LABEL_0"}})")), 1);
  EXPECT_EQ(label_count(config_of("{}")), 2);
}

TEST(LastRealToken, PaddingAtTheEndIsPassedOver) {
  const Config padded = config_of(R"({"pad_token_id": 9})");
  EXPECT_EQ(last_real_token(padded, inputs_of({1, 9, 2, 9, 9})), 2);
  EXPECT_EQ(last_real_token(padded, inputs_of({1, 2, 3})), 2);
  EXPECT_EQ(last_real_token(padded, inputs_of({9, 9})), 0);
  EXPECT_EQ(last_real_token(config_of("{}"), inputs_of({1, 9, 9})), 2);
}

TEST(UnknownWeights, WhatAnArchitectureDoesNotNeedIsWholeParts) {
  const Weights weights(std::make_shared<MemorySource>(
      std::vector<NamedTensor>{{"bert.pooler.dense.bias", Tensor(Shape{1})},
                               {"bert.poolers.bias", Tensor(Shape{1})},
                               {"attn.bias", Tensor(Shape{1})},
                               {"attn.bias.more", Tensor(Shape{1})},
                               {"xattn.bias", Tensor(Shape{1})}}));
  const Architecture architecture{.name = "x",
                                  .covers = "",
                                  .model_types = {},
                                  .not_needed = {"pooler", "attn.bias"},
                                  .build = nullptr};
  EXPECT_THAT(unknown_weights(architecture, weights),
              ElementsAre("bert.poolers.bias", "xattn.bias"));
}

TEST(BuildingModels, AConfigurationThatContradictsTheWeightsGivesBothShapes) {
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile,
                         "tensor 'embeddings.word_embeddings.weight' has shape [60, 60] but the "
                         "model's configuration asks for [61, 60]",
                         [] {
                           fixture_model("bert_model", {{"vocab_size", 61}});
                         }));
}

TEST(BuildingModels, MoreLayersThanThereAreNamesTheMissingTensor) {
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "'model.layers.2.", [] {
    fixture_model("llama_gqa", {{"num_hidden_layers", 3}});
  }));
}

TEST(BuildingModels, HeadsMustDivideTheWidth) {
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "num_attention_heads 7", [] {
    fixture_model("bert_model", {{"num_attention_heads", 7}});
  }));
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "num_key_value_heads 2", [] {
    fixture_model("llama_gqa", {{"num_key_value_heads", 2}});
  }));
}

TEST(BuildingModels, ExpertsThatDoNotFitAreOneClearLine) {
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "num_local_experts is 5000000", [] {
    fixture_model("mixtral_lm", {{"num_local_experts", 5000000}});
  }));
  EXPECT_TRUE(
      fails_with(ErrorKind::kBadFile, "block_sparse_moe.gate.weight' has shape [5, 32]", [] {
        fixture_model("mixtral_lm", {{"num_local_experts", 4}});
      }));
  EXPECT_TRUE(
      fails_with(ErrorKind::kBadFile, "num_experts_per_tok is 9 but num_local_experts is 5", [] {
        fixture_model("mixtral_lm", {{"num_experts_per_tok", 9}});
      }));
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "gate_up_proj_bias' has shape [3, 64]", [] {
    fixture_model("gpt_oss_blocks", {{"intermediate_size", 64}});
  }));
}

TEST(BuildingModels, AnUnknownKindOfPositionsOrActivationIsNamed) {
  Json rope = Json::object();
  rope.set("rope_type", "proportional");
  rope.set("rope_theta", 10000.0);
  EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, "'proportional'", [&] {
    fixture_model("llama_gqa", {{"rope_parameters", rope}});
  }));
  rope.set("rope_type", "longrope");
  rope.set("short_factor", Json::array_of(std::vector<double>{1, 2}));
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "short_factor has 2 factors for 6 pairs", [&] {
    fixture_model("llama_gqa", {{"rope_parameters", rope}});
  }));
  EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, "'mish'", [] {
    fixture_model("llama_gqa", {{"hidden_act", "mish"}});
  }));
  EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, "'linear_attention'", [] {
    fixture_model("qwen3_lm",
                  {{"layer_types", Json::array_of(std::vector<std::string>(2, "linear_attention"))},
                   {"num_hidden_layers", 2}});
  }));
}

TEST(BuildingModels, ScoresOfWordsAreTheEmbeddingsOnlyWhereTheConfigurationLetsThem) {
  const Config tied = config_of(R"({"tie_word_embeddings": true})");
  const Config untied = config_of(R"({"tie_word_embeddings": false})");
  const Tensor words(Shape{3, 2});
  const LayerSource nothing{Weights(std::make_shared<MemorySource>(std::vector<NamedTensor>{}))};
  EXPECT_EQ(word_weights(tied, nothing, {"lm_head.weight"}, words).numbers().raw(), words.raw());
  EXPECT_EQ(word_weights(config_of("{}"), nothing, {"a", "b"}, words).numbers().raw(), words.raw());
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "no tensor 'lm_head.weight'",
                         [&] { word_weights(untied, nothing, {"lm_head.weight"}, words); }));
}

TEST(RunningModels, TextLongerThanALearnedTableIsRefusedWithBothNumbers) {
  for (const char* name : {"bert_model", "gpt2_lm"}) {
    const auto model = fixture_model(name);
    const int64_t most = model->facts().text->most_tokens;
    EXPECT_EQ(most, 40) << name;
    EXPECT_NO_THROW(model->forward(inputs_of(std::vector<int64_t>(40, 3)), {}));
    EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument,
                           "41 tokens but this model has positions for 40",
                           [&] { model->forward(inputs_of(std::vector<int64_t>(41, 3)), {}); }));
  }
  // RoBERTa's table begins behind the padding's place: 40 rows hold 38 tokens.
  const auto roberta = fixture_model("roberta_model");
  EXPECT_NO_THROW(roberta->forward(inputs_of(std::vector<int64_t>(38, 3)), {}));
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument,
                         "39 tokens but this model has positions for 38",
                         [&] { roberta->forward(inputs_of(std::vector<int64_t>(39, 3)), {}); }));
}

TEST(RunningModels, RotaryModelsGoOnBeyondTheTrainedLength) {
  const auto model = fixture_model("llama_gqa");
  EXPECT_EQ(model->facts().text->most_tokens, 0);
  EXPECT_EQ(model->facts().text->trained_tokens, 64);
  const ModelOutputs outputs = model->forward(inputs_of(std::vector<int64_t>(70, 3)), {});
  EXPECT_EQ(outputs.last_hidden_state.shape(), (Shape{70, 56}));
}

TEST(RunningModels, IdsOutsideTheVocabularyAreRefused) {
  const auto model = fixture_model("bert_model");
  for (const int64_t id : {int64_t{60}, int64_t{-1}, int64_t{1} << 40}) {
    EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument,
                           fmt::format("token id {} is beyond this model's vocabulary of 60", id),
                           [&] {
                             model->forward(inputs_of({1, id}), {});
                           }));
  }
  ModelInputs segments = inputs_of({1, 2});
  segments.token_type_ids = {0, 2};
  EXPECT_TRUE(fails_cleanly([&] { model->forward(segments, {}); }));
}

TEST(RunningModels, InputsMustBeThereAndOfOneLength) {
  const auto model = fixture_model("bert_model");
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "no tokens",
                         [&] { model->forward(inputs_of({}), {}); }));
  ModelInputs inputs = inputs_of({1, 2, 3});
  inputs.attention_mask = {1, 1};
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument,
                         "attention_mask has 2 entries but input_ids has 3",
                         [&] { model->forward(inputs, {}); }));
  inputs = inputs_of({1, 2, 3});
  inputs.token_type_ids = {1, 1, 1, 1};
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument,
                         "token_type_ids has 4 entries but input_ids has 3",
                         [&] { model->forward(inputs, {}); }));
}

TEST(RunningModels, OnlyCausalModelsGoStepByStep) {
  AttentionCache cache;
  const auto model = fixture_model("bert_model");
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "causal",
                         [&] { model->forward(inputs_of({1}), {.cache = &cache}); }));
  EXPECT_EQ(cache.length(), 0);
}

TEST(RunningModels, LogitsAreComputedForTheRowsThatAreAskedFor) {
  const auto model = fixture_model("llama_gqa");
  const ModelInputs inputs = inputs_of({5, 6, 7});
  EXPECT_TRUE(model->forward(inputs, {.logits = LogitRows::kNone}).logits.tensor.empty());
  const Tensor all = model->forward(inputs, {.logits = LogitRows::kAll}).logits.tensor;
  const Tensor last = model->forward(inputs, {.logits = LogitRows::kLast}).logits.tensor;
  ASSERT_EQ(all.shape(), (Shape{3, 60}));
  ASSERT_EQ(last.shape(), (Shape{1, 60}));
  for (int64_t word = 0; word < 60; ++word) {
    // One row or three may be multiplied in another order: a few roundings of sums around 1.
    EXPECT_NEAR(last.matrix<float>().row(0)[word], all.matrix<float>().row(2)[word], 1e-4);
  }
}

TEST(RunningModels, EverySiteIsRecordedOnceAndOnlyIfWanted) {
  for (const char* name : {"bert_model", "albert_groups", "gemma3_text", "gpt_neox_parallel"}) {
    SCOPED_TRACE(name);
    const auto model = fixture_model(name);
    Recorder all;
    model->forward(inputs_of({1, 2, 3}), {.recorder = &all});
    const auto records = all.take();
    ASSERT_EQ(static_cast<int64_t>(records.size()), model->facts().main.layers);
    for (size_t layer = 0; layer < records.size(); ++layer) {
      EXPECT_EQ(to_string(records[layer]->site), fmt::format("self.{}", layer));
      EXPECT_EQ(records[layer]->shape().heads, model->facts().main.heads);
      EXPECT_EQ(records[layer]->shape().kv_heads, model->facts().main.kv_heads);
    }
    Recorder some({.wanted = [](SiteId site) { return site.layer == 1; }});
    model->forward(inputs_of({1, 2, 3}), {.recorder = &some});
    EXPECT_EQ(some.take().size(), 1U);
  }
}

TEST(RunningModels, ConcurrentRunsDoNotDisturbEachOther) {
  const auto model = fixture_model("bert_masked_lm");
  const auto logits_of = [&](int64_t first) {
    return model->forward(inputs_of({first, 7, 9, 11}), {}).logits.tensor;
  };
  std::vector<Tensor> found(4);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < found.size(); ++i) {
    threads.emplace_back([&, i] { found[i] = logits_of(static_cast<int64_t>(i)); });
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i < found.size(); ++i) {
    const Tensor alone = logits_of(static_cast<int64_t>(i));
    EXPECT_TRUE(std::ranges::equal(found[i].values<float>(), alone.values<float>())) << i;
  }
}

TEST(RunningModels, AskedToStopTheyStop) {
  const auto model = fixture_model("bert_model");
  const CancelToken cancel;
  cancel.cancel();
  const WatchScope scope({.cancel = cancel});
  EXPECT_TRUE(fails_with(ErrorKind::kCancelled, "cancelled", [&] {
    model->forward(inputs_of({1, 2}), {});
  }));
}

}  // namespace
}  // namespace fovea
