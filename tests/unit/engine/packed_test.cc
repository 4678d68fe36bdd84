#include <gtest/gtest.h>

#include <map>
#include <mutex>

#include "fovea/engine/engine.h"
#include "fovea/engine/input_file.h"
#include "support/fixture_models.h"

namespace fovea {
namespace {

// Texts of different lengths out of one: its beginning, its end, all of it.
std::vector<EncodedInput> texts_of(const Engine& engine, const ModelInputs& inputs) {
  const size_t length = inputs.input_ids.size();
  std::vector<EncodedInput> texts;
  for (const auto& [begin, end] : std::vector<std::pair<size_t, size_t>>{
           {0, length / 2}, {length / 3, length}, {0, length}, {0, 1}}) {
    ModelInputs part;
    part.input_ids.assign(inputs.input_ids.begin() + static_cast<std::ptrdiff_t>(begin),
                          inputs.input_ids.begin() + static_cast<std::ptrdiff_t>(end));
    texts.push_back(engine.label(part));
  }
  return texts;
}

// Products of other sizes may be added up in another order.
void expect_near(const Tensor& a, const Tensor& b, const std::string& what) {
  ASSERT_EQ(a.shape(), b.shape()) << what;
  for (size_t i = 0; i < a.values<float>().size(); ++i) {
    ASSERT_NEAR(a.values<float>()[i], b.values<float>()[i], 2e-5) << what;
  }
}

TEST(RunPacked, GivesTheRecordsOfTextsThatRunAlone) {
  for (const char* name : {"bert_model", "roberta_model", "albert_masked_lm",
                           "distilbert_masked_lm", "electra_masked_lm", "gpt2_lm", "llama_gqa",
                           "mistral_window", "qwen3_lm", "gpt_neox_parallel", "gemma3_text"}) {
    const Engine engine = Engine::open(parity_folder(name).string());
    const std::vector<EncodedInput> texts =
        texts_of(engine, read_inputs(parity_folder(name) / "inputs.safetensors"));
    std::map<std::pair<int64_t, SiteId>, AttentionRecord> packed;
    std::mutex mutex;
    engine.run_packed(texts, {.give_to = [&](int64_t text, AttentionRecord record) {
                        const SiteId site = record.site;
                        const std::lock_guard lock(mutex);
                        packed.emplace(std::pair(text, site), std::move(record));
                      }});
    for (size_t text = 0; text < texts.size(); ++text) {
      const RunResult alone = engine.run(texts[text]);
      for (const auto& record : alone.run.records) {
        const std::string what =
            std::string(name) + ", text " + std::to_string(text) + ", " + to_string(record->site);
        const auto found = packed.find({static_cast<int64_t>(text), record->site});
        ASSERT_NE(found, packed.end()) << what;
        expect_near(found->second.queries, record->queries, what);
        expect_near(found->second.keys, record->keys, what);
        expect_near(found->second.values, record->values, what);
        for (size_t i = 0; i < record->lse.values<double>().size(); ++i) {
          ASSERT_NEAR(found->second.lse.values<double>()[i], record->lse.values<double>()[i], 2e-5);
        }
      }
    }
    EXPECT_EQ(packed.size(), texts.size() * static_cast<size_t>(engine.facts().main.layers))
        << name;
  }
}

TEST(RunPacked, GivesOnlyWhatIsWanted) {
  for (const int wanted : {0, 1}) {
    const Engine engine = Engine::open(parity_folder("bert_model").string());
    const std::vector<EncodedInput> texts =
        texts_of(engine, read_inputs(parity_folder("bert_model") / "inputs.safetensors"));
    std::mutex mutex;
    size_t given = 0;
    engine.run_packed(texts, {.wanted = [&](SiteId site) { return site.layer == wanted; },
                              .give_to =
                                  [&](int64_t, const AttentionRecord& record) {
                                    const std::lock_guard lock(mutex);
                                    EXPECT_EQ(record.site.layer, wanted);
                                    ++given;
                                  }});
    EXPECT_EQ(given, texts.size());
  }
}

TEST(RunPacked, RefusesModelsWhoseTextsCannotStandSideBySide) {
  for (const char* name : {"t5_encoder", "marian_mt", "vit_image", "clip_text"}) {
    const Engine engine = Engine::open(parity_folder(name).string());
    const std::vector<EncodedInput> texts{
        engine.label(read_inputs(parity_folder(name) / "inputs.safetensors"))};
    EXPECT_THROW(engine.run_packed(texts, {}), Error) << name;
  }
}

}  // namespace
}  // namespace fovea
