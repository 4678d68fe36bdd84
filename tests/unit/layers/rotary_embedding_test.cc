#include "fovea/layers/rotary_embedding.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "support/errors.h"

namespace fovea {
namespace {

constexpr int64_t kRotaryDim = 8;

Config rotary_config(std::string_view json) {
  return Config(Json::parse(json, "config.json"), "config.json");
}

// The angles that a table turns by at `position`, read back from cos and sin at a scale of 1.
std::vector<double> angles(const RotaryEmbedding& rotary, int64_t position) {
  std::vector<int64_t> positions(static_cast<size_t>(position) + 1);
  for (size_t i = 0; i < positions.size(); ++i) positions[i] = static_cast<int64_t>(i);
  const RotaryTable table = rotary.table(positions);
  std::vector<double> result;
  for (int64_t pair = 0; pair < table.pairs(); ++pair) {
    result.push_back(std::atan2(table.sin.matrix<float>().row(position)[pair],
                                table.cos.matrix<float>().row(position)[pair]));
  }
  return result;
}

double plain_angle(double base, int64_t pair, int64_t dim = kRotaryDim) {
  return std::pow(base, -2.0 * static_cast<double>(pair) / static_cast<double>(dim));
}

// Angles of position 1 are the frequencies; f32 keeps 7 digits of them.
void expect_frequencies(const RotaryEmbedding& rotary, const std::vector<double>& expected) {
  const std::vector<double> found = angles(rotary, 1);
  ASSERT_EQ(found.size(), expected.size());
  for (size_t pair = 0; pair < expected.size(); ++pair) {
    EXPECT_NEAR(found[pair], expected[pair], 2e-7) << "pair " << pair;
  }
}

TEST(RotaryEmbedding, PairsTurnByPowersOfTheBase) {
  std::vector<double> expected;
  for (int64_t pair = 0; pair < 4; ++pair) expected.push_back(plain_angle(500, pair));
  expect_frequencies(RotaryEmbedding::plain(kRotaryDim, 500), expected);
  expect_frequencies(RotaryEmbedding::of(rotary_config(R"({"rope_theta": 500})"), kRotaryDim),
                     expected);
  expect_frequencies(
      RotaryEmbedding::of(rotary_config(R"({"rope_parameters": {"rope_theta": 500}})"), kRotaryDim),
      expected);
  expect_frequencies(RotaryEmbedding::of(rotary_config("{}"), kRotaryDim, 500), expected);
}

TEST(RotaryEmbedding, LayersMayDiffer) {
  const Config config = rotary_config(R"({"rope_parameters": {
      "full_attention": {"rope_theta": 500, "rope_type": "default"},
      "sliding_attention": {"rope_theta": 20, "rope_type": "default"}}})");
  EXPECT_NEAR(angles(RotaryEmbedding::of(config, kRotaryDim, 7, "sliding_attention"), 1)[1],
              plain_angle(20, 1), 2e-7);
  EXPECT_NEAR(angles(RotaryEmbedding::of(config, kRotaryDim, 7, "full_attention"), 1)[1],
              plain_angle(500, 1), 2e-7);
}

TEST(RotaryEmbedding, APartOfTheHeadMayTurn) {
  const Config config = rotary_config(R"({"rope_theta": 500, "partial_rotary_factor": 0.25})");
  expect_frequencies(RotaryEmbedding::of(config, kRotaryDim / 2), {1, plain_angle(500, 1, 4)});
}

TEST(RotaryEmbedding, LinearStretchingDividesAllFrequencies) {
  const Config config =
      rotary_config(R"({"rope_theta": 500, "rope_scaling": {"type": "linear", "factor": 4}})");
  std::vector<double> expected;
  for (int64_t pair = 0; pair < 4; ++pair) expected.push_back(plain_angle(500, pair) / 4);
  expect_frequencies(RotaryEmbedding::of(config, kRotaryDim), expected);
}

TEST(RotaryEmbedding, Llama3StretchesLongWavesOnly) {
  // Base 16: wave lengths are 2 pi times 1, 2, 4 and 8. With a trained length of 48, waves above
  // 48 / 1 = 48 are long (8 * 2 pi = 50.3), those below 48 / 4 = 12 short (6.3).
  const Config config = rotary_config(R"({"max_position_embeddings": 1000, "rope_parameters": {
      "rope_theta": 16, "rope_type": "llama3", "factor": 8, "low_freq_factor": 1,
      "high_freq_factor": 4, "original_max_position_embeddings": 48}})");
  const auto between = [](double frequency) {
    const double share = (48 * frequency / (2 * std::numbers::pi) - 1) / (4 - 1);
    return (1 - share) * frequency / 8 + share * frequency;
  };
  expect_frequencies(RotaryEmbedding::of(config, kRotaryDim),
                     {1, between(0.5), between(0.25), 0.125 / 8});
}

TEST(RotaryEmbedding, DynamicStretchingBeginsBeyondTheTrainedLength) {
  const Config config = rotary_config(R"({"max_position_embeddings": 10, "rope_theta": 500,
      "rope_scaling": {"rope_type": "dynamic", "factor": 2}})");
  const RotaryEmbedding rotary = RotaryEmbedding::of(config, kRotaryDim);
  EXPECT_NEAR(angles(rotary, 7)[2], 7 * plain_angle(500, 2), 2e-6);
  const double base = 500 * std::pow(2.0 * 21 / 10 - 1, 8.0 / 6);
  EXPECT_NEAR(angles(rotary, 20)[2], 20 * plain_angle(base, 2), 5e-6);
}

TEST(RotaryEmbedding, YarnScalesCosAndSin) {
  const Config config = rotary_config(R"({"max_position_embeddings": 64, "rope_theta": 500,
      "rope_scaling": {"rope_type": "yarn", "factor": 4, "attention_factor": 1.5}})");
  const std::vector<int64_t> positions{0};
  const RotaryTable table = RotaryEmbedding::of(config, kRotaryDim).table(positions);
  EXPECT_FLOAT_EQ(table.cos.values<float>()[0], 1.5F);
  EXPECT_FLOAT_EQ(table.sin.values<float>()[0], 0);
}

TEST(RotaryEmbedding, FactorsOfAFileDivideFrequencies) {
  RotaryEmbedding rotary = RotaryEmbedding::plain(kRotaryDim, 500);
  rotary.divide_frequencies(std::vector<float>{1, 2, 4, 8}, "x.gguf");
  std::vector<double> expected;
  for (int64_t pair = 0; pair < 4; ++pair) {
    expected.push_back(plain_angle(500, pair) / std::exp2(static_cast<double>(pair)));
  }
  expect_frequencies(rotary, expected);
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "x.gguf: holds 3 rotary factors for 4 pairs", [&] {
    rotary.divide_frequencies(std::vector<float>{1, 2, 3}, "x.gguf");
  }));
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "above 0", [&] {
    rotary.divide_frequencies(std::vector<float>{1, 2, 0, 1}, "x.gguf");
  }));
}

TEST(RotaryEmbedding, WhatCannotBeIsRefused) {
  const auto refused = [](std::string_view json, ErrorKind kind, std::string_view part) {
    return fails_with(kind, part, [&] { RotaryEmbedding::of(rotary_config(json), kRotaryDim); });
  };
  EXPECT_TRUE(refused(R"({"rope_scaling": {"type": "ntk"}})", ErrorKind::kUnsupported, "'ntk'"));
  EXPECT_TRUE(refused(R"({"max_position_embeddings": 8, "rope_scaling": {"type": "su"}})",
                      ErrorKind::kBadFile, "short_factor has 0 factors"));
  EXPECT_TRUE(refused(R"({"rope_scaling": {"type": "linear"}})", ErrorKind::kBadFile, "factor"));
  EXPECT_TRUE(refused(R"({"rope_theta": 0})", ErrorKind::kBadFile, "base 0"));
}

}  // namespace
}  // namespace fovea
