#include "fovea/generate/generation_config.h"

#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/errors.h"
#include "support/temp_folder.h"

namespace fovea {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Config config_of(std::string_view json, std::string source = "generation_config.json") {
  return Config(Json::parse(json, source), source);
}

const Config& model() {
  static const Config config =
      config_of(R"({"vocab_size": 100, "eos_token_id": 9})", "config.json");
  return config;
}

GenerationConfig read(std::string_view json) {
  const Config generation = config_of(json);
  return read_generation_config(model(), &generation);
}

TEST(GenerationConfig, ReadsEveryKeyOfASearch) {
  const GenerationConfig read_config = read(R"({
    "num_beams": 4, "length_penalty": 0.6, "early_stopping": "never", "max_length": 50,
    "max_new_tokens": 30, "eos_token_id": [2, 3], "bos_token_id": 0, "pad_token_id": 120,
    "decoder_start_token_id": 5, "repetition_penalty": 1.5, "no_repeat_ngram_size": 3,
    "bad_words_ids": [[1], [4, 5]], "min_length": 7, "forced_bos_token_id": 11,
    "forced_eos_token_id": 2, "suppress_tokens": [6, 7], "begin_suppress_tokens": [8]})");
  const SearchOptions& search = read_config.search;
  EXPECT_EQ(search.beams, 4);
  EXPECT_EQ(search.length_penalty, 0.6);
  EXPECT_EQ(search.early_stopping, EarlyStopping::kExhaustive);
  EXPECT_THAT(search.stop_ids, ElementsAre(2, 3));
  EXPECT_EQ(read_config.max_length, 50);
  EXPECT_EQ(read_config.max_new_tokens, 30);
  EXPECT_EQ(read_config.bos_token_id, 0);
  EXPECT_EQ(read_config.pad_token_id, 120);  // a search never meets it
  EXPECT_EQ(read_config.decoder_start_token_id, 5);
  EXPECT_EQ(search.rules.repetition_penalty, 1.5);
  EXPECT_EQ(search.rules.no_repeat_ngram_size, 3);
  EXPECT_THAT(search.rules.bad_words_ids, ElementsAre(ElementsAre(1), ElementsAre(4, 5)));
  EXPECT_EQ(search.rules.min_length, 7);
  EXPECT_EQ(search.rules.forced_bos_token_id, 11);
  EXPECT_THAT(search.rules.forced_eos_token_id, ElementsAre(2));
  EXPECT_THAT(search.rules.suppress_tokens, ElementsAre(6, 7));
  EXPECT_THAT(search.rules.begin_suppress_tokens, ElementsAre(8));
}

TEST(GenerationConfig, HasTransformersDefaults) {
  const GenerationConfig plain = read("{}");
  EXPECT_EQ(plain.search.beams, 1);
  EXPECT_EQ(plain.search.length_penalty, 1);
  EXPECT_EQ(plain.search.early_stopping, EarlyStopping::kHeuristic);
  EXPECT_THAT(plain.search.stop_ids, ElementsAre(9));  // of config.json
  EXPECT_FALSE(plain.pad_token_id || plain.bos_token_id || plain.decoder_start_token_id);
  EXPECT_EQ(read(R"({"bos_token_id": 3})").decoder_start_token_id, 3);
  EXPECT_FALSE(read(R"({"pad_token_id": -1})").pad_token_id);
  EXPECT_EQ(read(R"({"early_stopping": true})").search.early_stopping, EarlyStopping::kAtOnce);
  EXPECT_EQ(read(R"({"min_length": 5, "min_new_tokens": 2})").search.rules.min_length, 0);
}

TEST(GenerationConfig, KnowsHowMuchMayBeWritten) {
  EXPECT_EQ(read("{}").most_tokens(5), 20);
  EXPECT_EQ(read("{}").most_tokens(5, /*positions=*/12), 7);
  EXPECT_EQ(read(R"({"max_length": 30})").most_tokens(5, /*positions=*/12), 25);
  EXPECT_EQ(read(R"({"max_length": 30, "max_new_tokens": 4})").most_tokens(5), 4);
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "has 30 tokens but a text may have 30",
                         [] { read(R"({"max_length": 30})").most_tokens(30); }));
}

TEST(GenerationConfig, OldFoldersSayItInTheirConfig) {
  const Config old = config_of(R"({"vocab_size": 58101, "num_beams": 6, "max_length": 512,
      "bad_words_ids": [[58100]], "bos_token_id": 0, "eos_token_id": 0, "pad_token_id": 58100,
      "decoder_start_token_id": 58100, "num_beam_groups": 1, "diversity_penalty": 0.0,
      "encoder_no_repeat_ngram_size": 0, "exponential_decay_length_penalty": null,
      "force_bos_token_to_be_generated": true, "renormalize_logits": false,
      "task_specific_params": {"translation": {"num_beams": 9}}})");
  const GenerationConfig from_config = read_generation_config(old);
  EXPECT_EQ(from_config.search.beams, 6);
  EXPECT_EQ(from_config.max_length, 512);
  EXPECT_EQ(from_config.decoder_start_token_id, 58100);
  EXPECT_EQ(from_config.search.rules.forced_bos_token_id, 0);
  const Config generation = config_of("{}");  // then only ids of tokens come from config.json
  const GenerationConfig both = read_generation_config(old, &generation);
  EXPECT_EQ(both.search.beams, 1);
  EXPECT_FALSE(both.max_length || both.search.rules.forced_bos_token_id);
  EXPECT_THAT(both.search.rules.bad_words_ids, IsEmpty());
  EXPECT_EQ(both.decoder_start_token_id, 58100);
}

TEST(GenerationConfig, IsFoundInAFolder) {
  const TempFolder folder;
  const auto open = [&] { return open_generation_config(folder / "", model()); };
  EXPECT_EQ(open().search.beams, 1);
  write_text(folder / "generation_config.json", R"({"num_beams": 4})");
  EXPECT_EQ(open().search.beams, 4);
  write_text(folder / "generation_config.json", "[]");
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "an array", open));
}

TEST(GenerationConfig, HowToSampleIsLeftToTheCaller) {
  EXPECT_EQ(
      read(R"({"do_sample": true, "temperature": 0.6, "top_p": 0.9, "top_k": 20})").search.beams,
      1);
}

TEST(GenerationConfig, OtherSearchesAreRefusedByName) {
  for (const std::string_view member :
       {R"("encoder_no_repeat_ngram_size": 3)", R"("encoder_repetition_penalty": 1.1)",
        R"("num_beam_groups": 2)", R"("diversity_penalty": 0.5)", R"("guidance_scale": 3)",
        R"("penalty_alpha": 0.6)", R"("renormalize_logits": true)", R"("token_healing": true)",
        R"("sequence_bias": [[[1], -1.0]])", R"("exponential_decay_length_penalty": [5, 1.1])",
        R"("constraints": [])", R"("force_words_ids": [[1]])", R"("stop_strings": "x")",
        R"("watermarking_config": {})", R"("dola_layers": "low")", R"("max_time": 1)"}) {
    const std::string name(member.substr(1, member.find('"', 1) - 1));
    EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, "'" + name + "'", [&] {
      read(fmt::format("{{{}}}", member));
    })) << member;
  }
}

TEST(GenerationConfig, ValuesThatCannotBeAreRefusedByName) {
  for (const std::string_view member :
       {R"("num_beams": 0)",
        R"("num_beams": -4)",
        R"("num_beams": 1e18)",
        R"("num_beams": 2.5)",
        R"("num_beams": "4")",
        R"("num_beams": [4])",
        R"("length_penalty": "x")",
        R"("length_penalty": 1e300)",
        R"("length_penalty": {})",
        R"("early_stopping": "always")",
        R"("early_stopping": 1)",
        R"("max_length": 0)",
        R"("max_length": -1)",
        R"("max_length": 9999999999)",
        R"("max_new_tokens": 0)",
        R"("min_length": -1)",
        R"("min_new_tokens": -1)",
        R"("no_repeat_ngram_size": -1)",
        R"("repetition_penalty": 0)",
        R"("repetition_penalty": -2)",
        R"("repetition_penalty": 1e-300)",
        R"("bad_words_ids": [1])",
        R"("bad_words_ids": [[]])",
        R"("bad_words_ids": [[100]])",
        R"("bad_words_ids": [[-1]])",
        R"("bad_words_ids": 3)",
        R"("eos_token_id": 100)",
        R"("eos_token_id": [1, -1])",
        R"("eos_token_id": "</s>")",
        R"("bos_token_id": -1)",
        R"("bos_token_id": [1])",
        R"("pad_token_id": -2)",
        R"("decoder_start_token_id": 100)",
        R"("forced_bos_token_id": 1e30)",
        R"("forced_eos_token_id": [[1]])",
        R"("suppress_tokens": [1, null])",
        R"("suppress_tokens": [-1])",
        R"("begin_suppress_tokens": [100])",
        R"("begin_suppress_tokens": {"a": 1})",
        R"("diversity_penalty": "x")",
        R"("forced_bos_token_id": 4, "suppress_tokens": [4])",
        R"("forced_eos_token_id": [4, 5], "suppress_tokens": [5, 4])"}) {
    const std::string name(member.substr(1, member.find('"', 1) - 1));
    EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "generation_config.json: '" + name + "'", [&] {
      read(fmt::format("{{{}}}", member));
    })) << member;
  }
}

TEST(GenerationConfig, TooManyEndsAndAVocabularyOfNothingAreRefused) {
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "'eos_token_id' has 300 tokens", [] {
    read(fmt::format(R"({{"eos_token_id": [{}]}})", fmt::join(std::vector<int>(300, 1), ",")));
  }));
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "config.json: 'vocab_size'", [] {
    read_generation_config(config_of(R"({"vocab_size": -3})", "config.json"));
  }));
}

TEST(GenerationConfig, TheVocabularyIsThatOfTheDecoder) {
  const auto refused = [](std::string_view json) {
    return fails_with(ErrorKind::kBadFile, "from 0 to 9",
                      [&] { read_generation_config(config_of(json)); });
  };
  EXPECT_TRUE(refused(R"({"decoder_vocab_size": 10, "vocab_size": 99, "eos_token_id": 10})"));
  EXPECT_TRUE(refused(R"({"text_config": {"vocab_size": 10}, "eos_token_id": 10})"));
  EXPECT_THAT(read_generation_config(config_of(R"({"eos_token_id": 10})")).search.stop_ids,
              ElementsAre(10));
}

}  // namespace
}  // namespace fovea
