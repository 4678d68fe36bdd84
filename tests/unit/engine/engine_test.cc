#include "fovea/engine/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fovea/engine/check_maps.h"
#include "fovea/engine/dense_file.h"
#include "fovea/engine/model_info.h"
#include "fovea/engine/model_tokenizer.h"
#include "fovea/io/safetensors.h"
#include "support/errors.h"
#include "support/model_with_words.h"
#include "support/temp_folder.h"

namespace fovea {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class EngineTest : public ::testing::Test {
 protected:
  Engine open(std::string_view fixture) const {
    return Engine::open(with_words(fixture, folder_).string());
  }
  TempFolder folder_;
};

TEST_F(EngineTest, ARunHoldsEveryMapAndTheTokens) {
  const Engine engine = open("bert_model");
  const RunResult result = engine.run(engine.encode("The cats sat.", "the mat"));
  EXPECT_EQ(result.inputs.input_ids, (std::vector<int64_t>{2, 5, 6, 8, 7, 14, 3, 5, 12, 3}));
  EXPECT_EQ(result.inputs.token_type_ids, (std::vector<int64_t>{0, 0, 0, 0, 0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(static_cast<int64_t>(result.run.records.size()), engine.facts().main.layers);
  EXPECT_NO_THROW(validate(result.run));
  EXPECT_EQ(result.run.axes.at(0).positions.size(), 10U);
  const std::vector<float> row = result.map({SiteKind::kSelf, 0}, 1).row(3);
  double sum = 0;
  for (const float weight : row) sum += double{weight};
  EXPECT_NEAR(sum, 1, 1e-6);
  EXPECT_EQ(result.run.model_hash, engine.model_hash());
  EXPECT_TRUE(result.outputs.logits.tensor.empty());
}

TEST_F(EngineTest, SegmentsAreForModelsThatTakeThem) {
  const Engine engine = open("roberta_model");
  EXPECT_THAT(engine.encode("the cat").inputs.token_type_ids, IsEmpty());
}

TEST_F(EngineTest, BytesThatAreNoUtf8AreReportedAndEmptyTextRefused) {
  const Engine engine = open("bert_model");
  EXPECT_THAT(engine.encode("the \xff cat").warnings,
              ElementsAre(HasSubstr("1 bytes of the text are no UTF-8 (the first at 4)")));
  EXPECT_EQ(engine.encode("").inputs.input_ids, (std::vector<int64_t>{2, 3}));
}

TEST_F(EngineTest, RotaryModelsWarnBeyondTheTrainedLength) {
  const Engine engine = Engine::open(parity_folder("llama_gqa").string());
  EXPECT_EQ(engine.find_tokenizer(), nullptr);
  const auto run = [&](size_t tokens) {
    return engine.run(ModelInputs{
        .input_ids = std::vector<int64_t>(tokens, 3), .token_type_ids = {}, .attention_mask = {}});
  };
  EXPECT_THAT(run(64).warnings, IsEmpty());
  EXPECT_THAT(run(65).warnings,
              ElementsAre(HasSubstr("65 tokens but the model was trained on 64")));
  EXPECT_EQ(run(2).run.axes.at(0).positions.at(0).text, "#3");
}

TEST_F(EngineTest, AGenerationIsOneMapOfAllSteps) {
  const Engine engine = open("llama_gqa");
  const EncodedInput input = engine.encode("the cat");
  const int64_t prompt = input.inputs.tokens();
  const RunResult result = engine.generate(input, {.most_tokens = 5, .stop_ids = {1000}});
  ASSERT_EQ(result.generated.size(), 5U);
  EXPECT_NO_THROW(validate(result.run));
  const auto record = result.run.record({SiteKind::kSelf, 1});
  EXPECT_EQ(record->shape().rows, prompt + 4);
  EXPECT_EQ(record->shape().cols, prompt + 4);
  const Axis* steps = result.run.find_axis("steps");
  ASSERT_NE(steps, nullptr);
  EXPECT_THAT(steps->positions.back().text, HasSubstr("→ predicts"));
  EXPECT_EQ(result.run.find_axis("tokens")->positions.size(), static_cast<size_t>(prompt + 4));
  // As if the whole had been run at once.
  const RunResult whole = engine.run(result.inputs);
  for (int64_t head = 0; head < engine.facts().main.heads; ++head) {
    const std::vector<float> found = result.map({SiteKind::kSelf, 1}, head).row(prompt + 3);
    const std::vector<float> expected = whole.map({SiteKind::kSelf, 1}, head).row(prompt + 3);
    for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-5);
  }
}

TEST_F(EngineTest, TheEndOfATextComesFromTheFiles) {
  const Engine free = open("llama_gqa");
  const RunResult all =
      free.generate(free.encode("the cat"), {.most_tokens = 6, .stop_ids = {1000}});
  const int64_t end = all.generated.at(2);
  const auto place = std::find(all.generated.begin(), all.generated.end(), end);
  write_text(folder_ / "llama_gqa" / "generation_config.json",
             fmt::format(R"({{"eos_token_id": [58, {}]}})", end));
  const Engine engine = Engine::open((folder_ / "llama_gqa").string());
  EXPECT_EQ(engine.generate(engine.encode("the cat"), {.most_tokens = 6}).generated,
            std::vector<int64_t>(all.generated.begin(), place + 1));
}

TEST_F(EngineTest, LabelsAreThoseThatSaySomething) {
  const auto labels = [&](std::string_view id2label) {
    const std::filesystem::path folder = folder_ / "bert_sequence";
    if (!std::filesystem::exists(folder)) with_words("bert_sequence", folder_);
    Json json = Config::open(parity_folder("bert_sequence") / "config.json").json();
    const size_t count = json.at("id2label", "").as_object("").size();
    EXPECT_EQ(count, 3U);
    json.set("id2label", Json::parse(id2label, "id2label"));
    write_text(folder / "config.json", json.dump());
    return Engine::open(folder.string()).labels();
  };
  EXPECT_THAT(labels(R"({"0": "bad", "1": "so so", "2": "good"})"),
              ElementsAre("bad", "so so", "good"));
  EXPECT_THAT(labels(R"({"2": "good", "0": "bad", "1": "so so"})"),
              ElementsAre("bad", "so so", "good"));
  EXPECT_THAT(labels(R"({"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"})"), IsEmpty());
  EXPECT_THAT(labels(R"({"0": "bad", "5": "so so", "7": "good"})"), IsEmpty());
}

TEST_F(EngineTest, TheDenseFileHoldsWhatTheMapsSay) {
  const Engine engine = open("bert_masked_lm");
  const RunResult result = engine.run(engine.encode("the cat sat"), {.logits = LogitRows::kAll});
  write_dense(result, folder_ / "maps.safetensors");
  const SafetensorsFile file = SafetensorsFile::open(folder_ / "maps.safetensors");
  uint64_t bytes = 0;
  for (const auto& entry : file.entries()) bytes += entry.end - entry.begin;
  EXPECT_EQ(bytes, dense_bytes(result));
  EXPECT_EQ(file.entries().size(), result.run.records.size() + 2);
  for (const auto& record : result.run.records) {
    const Tensor maps = file.tensor(to_string(record->site));
    ASSERT_EQ(maps.shape(), (Shape{engine.facts().main.heads, 5, 5}));
    for (int64_t head = 0; head < engine.facts().main.heads; ++head) {
      const AttentionMap map = result.map(record->site, head);
      for (int64_t i = 0; i < 5; ++i) {
        for (int64_t j = 0; j < 5; ++j) {
          // The same cell alone and in a tile: the product may be summed in another order.
          EXPECT_NEAR(maps.matrix<float>(head).row(i)[j], map.cell(i, j), 1e-6);
        }
      }
    }
  }
  EXPECT_EQ(file.tensor("logits").shape(), (Shape{5, 60}));
  EXPECT_EQ(file.tensor("last_hidden_state").shape(), result.outputs.last_hidden_state.shape());
  ASSERT_NE(file.find_metadata("tokens"), nullptr);
  EXPECT_THAT(*file.find_metadata("tokens"), HasSubstr("\"cat\""));
  EXPECT_EQ(*file.find_metadata("model_hash"), engine.model_hash());
  EXPECT_TRUE(fails_with(ErrorKind::kIo, "nowhere",
                         [&] { write_dense(result, folder_ / "nowhere/maps.safetensors"); }));
}

TEST_F(EngineTest, MapsOfAllFamiliesCheckOut) {
  for (const char* name : {"bert_model", "albert_groups", "gpt2_lm", "llama_gqa", "mistral_window",
                           "gemma3_softcap", "gemma3_bidirectional"}) {
    SCOPED_TRACE(name);
    const Engine engine = Engine::open(parity_folder(name).string());
    const MapCheck check = check_maps(engine, check_input(engine));
    EXPECT_EQ(check.maps, engine.facts().main.layers * engine.facts().main.heads);
    EXPECT_TRUE(check.passed()) << check.row_sum_error << " " << check.output_error;
    EXPECT_NO_THROW(require_passed(check));
  }
  EXPECT_TRUE(fails_with(ErrorKind::kInternal, "off by 5.0e-01",
                         [] { require_passed({.maps = 1, .tokens = 2, .row_sum_error = 0.5}); }));
}

TEST_F(EngineTest, InfoTellsWhatAModelIs) {
  const ModelInfo info = model_info(open("llama_gqa"));
  EXPECT_EQ(info.model_type, "llama");
  EXPECT_EQ(info.facts.main.kv_heads, 1);
  EXPECT_THAT(info.unread, IsEmpty());
  EXPECT_THAT(info.stored_as, ElementsAre("F32"));
  EXPECT_THAT(info.tokenizer, HasSubstr("16"));
  EXPECT_GT(info.parameters, 1000);
  EXPECT_FALSE(info.hash.empty());
}

TEST_F(EngineTest, LocalModelsAreThoseOfTheCaches) {
  const ModelCaches caches{.models = folder_ / "models", .hub = folder_ / "hub"};
  EXPECT_THAT(local_models(caches), IsEmpty());
  std::filesystem::create_directories(folder_ / "models");
  std::filesystem::copy(parity_folder("gpt2_lm"), folder_ / "models/tiny");
  std::filesystem::create_directories(folder_ / "models/odd");
  write_text(folder_ / "models/odd/config.json", R"({"model_type": "mamba"})");
  const std::vector<LocalModel> models = local_models(caches);
  ASSERT_EQ(models.size(), 2U);
  EXPECT_EQ(models[0].name, "odd");
  EXPECT_FALSE(models[0].supported);
  EXPECT_EQ(models[1].name, "tiny");
  EXPECT_TRUE(models[1].supported);
}

TEST_F(EngineTest, BundledFoldersWithoutAConfigurationAreNoModels) {
  std::filesystem::create_directories(folder_ / "bundled/train");
  std::filesystem::copy(parity_folder("gpt2_lm"), folder_ / "bundled/tiny");
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder_ / "bundled");  // where "train" is a folder by itself
  const std::vector<LocalModel> models = local_models({.bundled = {folder_ / "bundled"}});
  std::filesystem::current_path(before);
  ASSERT_EQ(models.size(), 1U);
  EXPECT_EQ(models[0].name, "tiny");
}

TEST_F(EngineTest, ATokenizerAloneIsEnough) {
  write_text(folder_ / "vocab.txt", std::string(kTokensOfWords));
  const Tokenizer tokenizer = tokenizer_named((folder_ / "").string());
  EXPECT_EQ(tokenizer.encode("cat").ids, (std::vector<int32_t>{2, 6, 3}));
  TempFolder empty;
  EXPECT_TRUE(fails_with(ErrorKind::kNotFound, "tokenizer",
                         [&] { tokenizer_named((empty / "").string()); }));
}

}  // namespace
}  // namespace fovea
