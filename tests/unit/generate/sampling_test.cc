#include "fovea/generate/sampling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "support/errors.h"

namespace fovea {
namespace {

std::vector<int64_t> draw(const Sampling& sampling, const std::vector<float>& logits, int count) {
  Sampler sampler(sampling);
  std::vector<int64_t> words;
  for (int i = 0; i < count; ++i) words.push_back(sampler(logits));
  return words;
}

TEST(Sampler, ATemperatureOfZeroTakesTheBestAndOfEqualOnesTheFirst) {
  EXPECT_EQ(draw({}, {1, 3, 2}, 2), (std::vector<int64_t>{1, 1}));
  EXPECT_EQ(draw({}, {1, 3, 2, 3}, 1), (std::vector<int64_t>{1}));
  EXPECT_EQ(draw({}, {5}, 1), (std::vector<int64_t>{0}));
  EXPECT_EQ(draw({}, {-1e30F, -1e20F, -1e25F}, 1), (std::vector<int64_t>{1}));
}

TEST(Sampler, TheSameSeedGivesTheSameWords) {
  const std::vector<float> logits{0.1F, 0.5F, -0.3F, 0.2F, 0};
  const Sampling sampling{.temperature = 1, .seed = 42};
  const std::vector<int64_t> words = draw(sampling, logits, 50);
  EXPECT_EQ(draw(sampling, logits, 50), words);
  EXPECT_NE(draw({.temperature = 1, .seed = 43}, logits, 50), words);
  // The language's standard fixes the generator, so these words were computed apart from ours.
  EXPECT_EQ(draw({.temperature = 1, .seed = 1}, logits, 12),
            (std::vector<int64_t>{0, 0, 1, 0, 1, 4, 1, 0, 2, 3, 0, 2}));
}

TEST(Sampler, WordsComeAsOftenAsTheirProbabilitySays) {
  const std::vector<float> logits{0, std::log(2.0F), std::log(5.0F)};
  for (const double temperature : {1.0, 0.5}) {
    const int count = 20000;
    std::vector<double> seen(3);
    for (const int64_t word : draw({.temperature = temperature, .seed = 5}, logits, count)) {
      seen[static_cast<size_t>(word)] += 1.0 / count;
    }
    double total = 0;
    for (const double weight : {1.0, 2.0, 5.0}) total += std::pow(weight, 1 / temperature);
    for (const size_t word : {0U, 1U, 2U}) {
      const double expected = std::pow(std::vector{1.0, 2.0, 5.0}[word], 1 / temperature) / total;
      // Four standard deviations of a share among 20,000; the seed is fixed.
      EXPECT_NEAR(seen[word], expected, 4 * std::sqrt(0.25 / count)) << word;
    }
  }
}

TEST(Sampler, TopPKeepsTheFewestWordsThatReachIt) {
  // Probabilities 0.5, 0.3, 0.15, 0.05, not in order.
  const std::vector<float> logits{std::log(0.15F), std::log(0.5F), std::log(0.05F), std::log(0.3F)};
  const auto kept = [&](double top_p) {
    const std::vector<int64_t> words =
        draw({.temperature = 1, .top_p = top_p, .seed = 3}, logits, 3000);
    return std::set<int64_t>(words.begin(), words.end());
  };
  EXPECT_EQ(kept(0.4), (std::set<int64_t>{1}));
  EXPECT_EQ(kept(0.6), (std::set<int64_t>{1, 3}));
  EXPECT_EQ(kept(0.9), (std::set<int64_t>{0, 1, 3}));
  EXPECT_EQ(kept(1), (std::set<int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(kept(1e-9), (std::set<int64_t>{1}));
}

TEST(Sampler, HugeAndTinyLogitsDoNoHarm) {
  const std::vector<float> logits{1e30F, -1e30F, 0};
  EXPECT_EQ(draw({.temperature = 1e-6, .seed = 1}, logits, 5), std::vector<int64_t>(5, 0));
  EXPECT_EQ(draw({.temperature = 1, .top_p = 0.5, .seed = 1}, logits, 5),
            std::vector<int64_t>(5, 0));
}

TEST(Sampling, WhatCannotBeIsRefused) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double temperature : {-0.1, nan, infinity}) {
    EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "temperature",
                           [&] { Sampler sampler({.temperature = temperature}); }));
  }
  for (const double top_p : {0.0, -1.0, 1.1, nan}) {
    EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "top-p",
                           [&] { validate(Sampling{.top_p = top_p}); }));
  }
}

}  // namespace
}  // namespace fovea
