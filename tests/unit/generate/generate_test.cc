#include "fovea/generate/generate.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/base/watch.h"
#include "support/compare.h"
#include "support/errors.h"
#include "support/fixture_models.h"

namespace fovea {
namespace {

const std::vector<int64_t> kPrompt{5, 17, 3, 8};
// Causal models of every kind of positions, windows smaller than the text among them.
constexpr const char* kCausal[] = {
    "gpt2_lm",      "gpt_neox_parallel", "llama_gqa",   "llama_tied",     "mistral_window",
    "qwen2_window", "qwen3_lm",          "gemma3_text", "gemma3_softcap", "bert_decoder"};

ModelInputs inputs_of(const std::vector<int64_t>& ids) {
  return {.input_ids = ids, .token_type_ids = {}, .attention_mask = {}};
}

std::vector<int64_t> joined(std::vector<int64_t> first, const std::vector<int64_t>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

TEST(Generate, TheCacheGivesWhatRunningTheWholeGives) {
  for (const char* name : kCausal) {
    SCOPED_TRACE(name);
    const auto model = fixture_model(name);
    AttentionCache cache;
    const std::vector<int64_t> written = generate(*model, kPrompt, {.most_tokens = 12}, cache);
    ASSERT_EQ(written.size(), 12U);
    const std::vector<int64_t> all = joined(kPrompt, written);
    EXPECT_EQ(cache.length(), 15);  // nothing has attended from the last token
    for (size_t i = 0; i < written.size(); ++i) {
      const std::vector<int64_t> before(all.begin(),
                                        all.begin() + static_cast<std::ptrdiff_t>(4 + i));
      const Tensor logits =
          model->forward(inputs_of(before), {.logits = LogitRows::kLast}).logits.tensor;
      Sampler best({});
      EXPECT_EQ(best(logits.values<float>()), written[i]) << "word " << i;
    }
  }
}

TEST(Generate, TheMapsOfAllStepsAreThoseOfTheWhole) {
  for (const char* name : kCausal) {
    SCOPED_TRACE(name);
    const auto model = fixture_model(name);
    AttentionCache cache;
    const std::vector<int64_t> written = generate(*model, kPrompt, {.most_tokens = 12}, cache);
    Recorder steps, whole;
    cache.record_into(steps, "tokens");
    std::vector<int64_t> all = joined(kPrompt, written);
    all.pop_back();
    model->forward(inputs_of(all), {.recorder = &whole});
    const auto found = steps.take(), expected = whole.take();
    ASSERT_EQ(found.size(), expected.size());
    for (size_t site = 0; site < found.size(); ++site) {
      EXPECT_EQ(found[site]->site, expected[site]->site);
      EXPECT_EQ(found[site]->rule.mask.query_offset, 0);
      EXPECT_EQ(found[site]->rule.mask.behind, expected[site]->rule.mask.behind);
      // Products of one row or of all are summed in another order, layer upon layer.
      EXPECT_TRUE(fovea::support::all_close(
          found[site]->queries, fovea::support::to_doubles(expected[site]->queries), 1e-4));
      const auto lse = expected[site]->lse.values<double>();
      for (size_t i = 0; i < lse.size(); ++i) {
        EXPECT_NEAR(found[site]->lse.values<double>()[i], lse[i], 1e-4);
      }
    }
  }
}

TEST(Generate, StopsAtAnEndWhichIsKept) {
  const auto model = fixture_model("llama_gqa");
  AttentionCache cache, again;
  std::vector<int64_t> heard;
  const std::vector<int64_t> free = generate(*model, kPrompt, {.most_tokens = 8}, cache);
  const int64_t end = free[4];
  const auto first = std::find(free.begin(), free.end(), end);
  const std::vector<int64_t> stopped =
      generate(*model, kPrompt,
               {.most_tokens = 8,
                .stop_ids = {59, end},
                .on_token = [&](int64_t id) { heard.push_back(id); }},
               again);
  EXPECT_EQ(stopped, std::vector<int64_t>(free.begin(), first + 1));
  EXPECT_EQ(heard, stopped);
}

// The whole text at once, without a cache: float32 logits of small models agree to 1e-4.
TEST(Generate, TellsTheProbabilityOfEachToken) {
  for (const double temperature : {0.0, 3.0}) {
    const auto model = fixture_model("gpt2_lm");
    AttentionCache cache;
    std::vector<double> found;
    const std::vector<int64_t> ids = generate(*model, kPrompt,
                                              {.most_tokens = 6,
                                               .sampling = {.temperature = temperature, .seed = 3},
                                               .probabilities = &found},
                                              cache);
    ASSERT_EQ(found.size(), ids.size());
    for (size_t i = 0; i < ids.size(); ++i) {
      const std::vector<int64_t> before =
          joined(kPrompt, {ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(i)});
      const Tensor logits =
          model->forward(inputs_of(before), {.logits = LogitRows::kLast}).logits.tensor;
      double sum = 0;
      for (const float logit : logits.values<float>()) sum += std::exp(double{logit});
      const double chosen = double{logits.values<float>()[static_cast<size_t>(ids[i])]};
      EXPECT_NEAR(found[i], std::exp(chosen) / sum, 1e-4);
    }
  }
}

TEST(Generate, SamplingIsDeterminedByItsSeed) {
  const auto model = fixture_model("gpt2_lm");
  const auto sampled = [&](uint64_t seed) {
    AttentionCache cache;
    return generate(
        *model, kPrompt,
        {.most_tokens = 20, .sampling = {.temperature = 3, .top_p = 0.95, .seed = seed}}, cache);
  };
  EXPECT_EQ(sampled(1), sampled(1));
  EXPECT_NE(sampled(1), sampled(2));
}

TEST(Generate, WhatCannotBeIsRefused) {
  const auto refused = [](const char* name, ErrorKind kind, std::string_view part, int64_t tokens) {
    const auto model = fixture_model(name);
    AttentionCache cache;
    return fails_with(kind, part,
                      [&] { generate(*model, kPrompt, {.most_tokens = tokens}, cache); });
  };
  EXPECT_TRUE(refused("bert_masked_lm", ErrorKind::kUnsupported, "'masked words'", 3));
  EXPECT_TRUE(refused("llama_model", ErrorKind::kUnsupported, "'none'", 3));
  EXPECT_TRUE(refused("llama_gqa", ErrorKind::kInvalidArgument, "0 new tokens", 0));
  // 40 positions: after 4 the model can read 36 more and write one beyond them.
  EXPECT_TRUE(refused("gpt2_lm", ErrorKind::kInvalidArgument, "ask for 37 at most", 38));
  const auto model = fixture_model("gpt2_lm");
  AttentionCache cache;
  EXPECT_EQ(generate(*model, kPrompt, {.most_tokens = 37}, cache).size(), 37U);
}

TEST(Generate, StopsWhenAsked) {
  const auto model = fixture_model("gpt2_lm");
  AttentionCache cache;
  const CancelToken cancel;
  const WatchScope scope({.cancel = cancel});
  int heard = 0;
  const auto on_token = [&](int64_t) {
    if (++heard == 3) cancel.cancel();
  };
  EXPECT_TRUE(fails_with(ErrorKind::kCancelled, "cancelled", [&] {
    generate(*model, kPrompt, {.most_tokens = 10, .on_token = on_token}, cache);
  }));
  EXPECT_EQ(heard, 3);
}

}  // namespace
}  // namespace fovea
