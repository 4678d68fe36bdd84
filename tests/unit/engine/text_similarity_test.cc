#include "fovea/engine/text_similarity.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/base/file.h"
#include "fovea/engine/input_file.h"
#include "fovea/io/safetensors.h"
#include "support/data.h"
#include "support/errors.h"

namespace fovea {
namespace {

std::filesystem::path fixture(std::string_view name) {
  return test_data("parity") / name;
}

// A copy of the checkpoint that reads the words "a" and "cat".
std::string with_tokenizer(std::string_view name) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / "fovea_similarity" / name;
  std::filesystem::create_directories(folder);
  for (const char* file : {"config.json", "model.safetensors"}) {
    std::filesystem::copy_file(fixture(name) / file, folder / file,
                               std::filesystem::copy_options::overwrite_existing);
  }
  write_file_atomic(folder / "tokenizer.json", [](FileWriter& writer) {
    writer.write(R"({"version": "1.0", "added_tokens": [], "normalizer": null,
      "pre_tokenizer": {"type": "Whitespace"}, "post_processor": null, "decoder": null,
      "model": {"type": "WordLevel", "vocab": {"<unk>": 0, "<pad>": 1, "a": 2, "cat": 59},
                "unk_token": "<unk>"}})");
  });
  return folder.string();
}

// The cosine of what both towers make of the inputs, in double.
double cosine_of(const ModelOutputs& outputs) {
  const std::span<const float> image = outputs.image_embeds.tensor.values<float>();
  const std::span<const float> text = outputs.text_embeds.tensor.values<float>();
  double dot = 0, image_length = 0, text_length = 0;
  for (size_t i = 0; i < image.size(); ++i) {
    dot += double{image[i]} * text[i];
    image_length += double{image[i]} * image[i];
    text_length += double{text[i]} * text[i];
  }
  return dot / std::sqrt(image_length * text_length);
}

TEST(TextSimilarity, IsThatOfTransformersForTheScaleAndBiasOfTheModel) {
  for (const char* name : {"clip_model", "siglip_model"}) {
    SCOPED_TRACE(name);
    const Engine engine = Engine::open(fixture(name).string());
    const RunResult result = engine.run(read_inputs(fixture(name) / "inputs.safetensors"));
    const Tensor logits =
        SafetensorsFile::open(fixture(name) / "expected.safetensors").tensor("logits");
    const SimilarityFacts& facts = *engine.facts().similarity;
    // The contract of outputs.
    EXPECT_NEAR(facts.scale * cosine_of(result.outputs) + facts.bias, logits.values<float>()[0],
                1e-4);
  }
}

TEST(TextSimilarity, IsAShareAmongTextsInClipAndOfEachTextInSiglip) {
  for (const char* name : {"clip_model", "siglip_model"}) {
    SCOPED_TRACE(name);
    const Engine engine = Engine::open(with_tokenizer(name));
    ModelInputs inputs = read_inputs(fixture(name) / "inputs.safetensors");
    inputs.input_ids.clear();
    const RunResult picture = engine.run(inputs);
    const auto found = text_similarities(engine, picture, {"a cat", "cat", "a cat"});
    ASSERT_EQ(found.size(), 3U);
    EXPECT_EQ(found[1].text, "cat");
    EXPECT_EQ(found[0].logit, found[2].logit);
    EXPECT_NE(found[0].logit, found[1].logit);
    double sum = 0;
    for (const TextSimilarity& each : found) {
      sum += each.probability;
      if (engine.facts().similarity->sigmoid) {
        EXPECT_NEAR(each.probability, 1 / (1 + std::exp(-each.logit)), 1e-12);
      }
    }
    if (!engine.facts().similarity->sigmoid) {
      EXPECT_NEAR(sum, 1, 1e-12);
      EXPECT_NEAR(std::log(found[1].probability / found[0].probability),
                  found[1].logit - found[0].logit, 1e-9);
    }
  }
}

TEST(TextSimilarity, TextsOfSiglipAreFilledUpWithPadding) {
  const Engine siglip = Engine::open(with_tokenizer("siglip_model"));
  const EncodedInput input = siglip.encode("a cat");
  EXPECT_EQ(input.inputs.tokens(), siglip.facts().text->most_tokens);
  EXPECT_EQ(input.inputs.input_ids[2], 1);
  EXPECT_EQ(input.axis.positions.size(), static_cast<size_t>(siglip.facts().text->most_tokens));
  EXPECT_TRUE(input.axis.positions[2].special);
  EXPECT_EQ(Engine::open(with_tokenizer("clip_model")).encode("a cat").inputs.tokens(), 2);
}

TEST(TextSimilarity, NeedsBothTowers) {
  const Engine vit = Engine::open(fixture("vit_model").string());
  EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, "compares no picture with a text",
                         [&] { check_compares_texts(vit); }));
}

}  // namespace
}  // namespace fovea
