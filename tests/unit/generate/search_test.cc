#include "fovea/generate/search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "fovea/base/file.h"
#include "fovea/base/watch.h"
#include "fovea/generate/generation_config.h"
#include "support/data.h"
#include "support/errors.h"
#include "unit/generate/hashed_words.h"

namespace fovea {
namespace {

using support::hashed_logits;
using support::ScoredTexts;
using support::Text;
using ::testing::ElementsAre;

ScoredTexts hashed_words() {
  return ScoredTexts([](const Text& text) { return hashed_logits(text, false); });
}

// Few words, so that every text can be enumerated; word 0 is the end.
constexpr int64_t kFew = 4;
std::vector<float> few_logits(const Text& text) {
  uint32_t seed = 17;
  for (const int64_t id : text) seed = support::mixed(seed * 31 + static_cast<uint32_t>(id));
  std::vector<float> logits;
  for (uint32_t word = 0; word < kFew; ++word) {
    logits.push_back(static_cast<float>(support::mixed(seed + word) % 4096) / 1024.0f);
  }
  return logits;
}

struct Ranked {
  Text ids;
  double score;
};

// Every text of at most `most` words, with its score.
void enumerate(const Text& prompt, const Text& ids, double log_p, int64_t most, double penalty,
               std::vector<Ranked>& into) {
  if (std::ssize(ids) == most || (!ids.empty() && ids.back() == 0)) {
    into.push_back({ids, log_p / std::pow(static_cast<double>(ids.size()), penalty)});
    return;
  }
  Text text = prompt;
  text.insert(text.end(), ids.begin(), ids.end());
  const std::vector<float> logits = few_logits(text);
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit));
  for (size_t word = 0; word < logits.size(); ++word) {
    Text longer = ids;
    longer.push_back(static_cast<int64_t>(word));
    enumerate(prompt, longer, log_p + static_cast<double>(logits[word]) - std::log(sum), most,
              penalty, into);
  }
}

TEST(Search, IsTransformersGenerateOverAGridOfSettings) {
  const std::filesystem::path path = test_data("search") / "answers.json";
  const Json cases = Json::parse(read_text_file(path), "answers.json");
  const Config model(Json::parse(R"({"vocab_size": 320})", "model"), "model");
  int texts = 0;
  for (size_t c = 0; c < cases.as_array("cases").size(); ++c) {
    const Config one(cases.as_array("cases")[c], "case");
    SCOPED_TRACE(fmt::format("case {}: {}", c, one.json().at("generation_config", "").dump()));
    const Config keys = one.section("generation_config");
    const Text prompt = one.get_ints("prompt");
    const GenerationConfig config = read_generation_config(model, &keys);
    SearchOptions options = config.search;
    options.most_tokens = config.most_tokens(std::ssize(prompt));
    const bool coarse = one.get_bool("coarse");
    ScoredTexts words([coarse](const Text& text) { return hashed_logits(text, coarse); });
    const Json::Array& expected = one.json().at("texts", "case").as_array("texts");
    if (expected.empty()) {  // a word is both forced and forbidden
      EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "forbid every word",
                             [&] { search(words, prompt, options); }));
      continue;
    }
    const std::vector<Hypothesis> found = search(words, prompt, options);
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i, ++texts) {
      const Config text(expected[i], "text");
      ASSERT_EQ(found[i].ids, text.get_ints("ids")) << "text " << i;
      // Up to 20 f32 sums of numbers below 100, divided by as much as by 20^-1.
      EXPECT_NEAR(found[i].score, text.get_double("score", 0),
                  1e-5 * std::max(1.0, std::abs(found[i].score)));
      if (options.beams > 1) {
        EXPECT_EQ(found[i].rows, text.get_ints("rows")) << "text " << i;
      }
    }
  }
  EXPECT_GT(texts, 1000);
}

TEST(Search, WithRoomForEveryTextFindsAllInTheirOrder) {
  const Text prompt{1, 3};
  for (const double penalty : {0.0, 0.6, 1.0, 2.0, -1.0}) {
    SCOPED_TRACE(penalty);
    std::vector<Ranked> all;
    enumerate(prompt, {}, 0, 4, penalty, all);
    std::ranges::sort(all, [](const Ranked& a, const Ranked& b) { return a.score > b.score; });
    ScoredTexts words(few_logits);
    const std::vector<Hypothesis> found = search(words, prompt,
                                                 {.beams = 256,  // kFew to the power of the length
                                                  .most_tokens = 4,
                                                  .length_penalty = penalty,
                                                  .early_stopping = EarlyStopping::kExhaustive,
                                                  .stop_ids = {0}});
    ASSERT_EQ(found.size(), all.size());
    for (size_t i = 0; i < all.size(); ++i) {
      EXPECT_EQ(found[i].ids, all[i].ids) << i;
      EXPECT_NEAR(found[i].score, all[i].score, 1e-5);  // f32 against double
    }
  }
}

TEST(Search, OneBeamOfBeamSearchIsGreedySearch) {
  for (int64_t first = 0; first < 50; ++first) {
    const Text prompt{first};
    const SearchOptions options{
        .most_tokens = 15, .early_stopping = EarlyStopping::kAtOnce, .stop_ids = {0}};
    ScoredTexts words(few_logits);
    const Hypothesis greedy = greedy_search(words, prompt, options);
    EXPECT_EQ(beam_search(words, prompt, options).at(0).ids, greedy.ids);
  }
}

TEST(Search, TheRowsLeadBackToTheTextsThatWereScored) {
  ScoredTexts words = hashed_words();
  const Text prompt{9, 41};
  const auto found = search(words, prompt, {.beams = 5, .most_tokens = 12, .stop_ids = {2}});
  ASSERT_EQ(found.size(), 5U);
  for (const Hypothesis& text : found) {
    ASSERT_EQ(text.rows.size(), text.ids.size());
    Text so_far = prompt;
    for (size_t i = 0; i < text.ids.size(); ++i) {
      EXPECT_EQ(words.history().at(i).at(static_cast<size_t>(text.rows[i])), so_far);
      so_far.push_back(text.ids[i]);
    }
  }
}

TEST(Search, TellsEveryStep) {
  for (const int64_t beams : {1, 3}) {
    ScoredTexts words = hashed_words();
    std::vector<size_t> lengths;
    Text last;
    SearchOptions options{.beams = beams, .most_tokens = 4};
    options.on_step = [&](std::span<const int64_t> best) {
      lengths.push_back(best.size());
      last.assign(best.begin(), best.end());
    };
    const auto found = search(words, Text{8}, options);
    EXPECT_THAT(lengths, ElementsAre(1, 2, 3, 4));
    EXPECT_EQ(last, found[0].ids);
  }
}

TEST(Search, StopsWhenAsked) {
  for (const int64_t beams : {1, 3}) {
    ScoredTexts words = hashed_words();
    const CancelToken cancel;
    const WatchScope scope({.cancel = cancel});
    int steps = 0;
    SearchOptions options{.beams = beams, .most_tokens = 9};
    options.on_step = [&](std::span<const int64_t>) {
      if (++steps == 3) cancel.cancel();
    };
    EXPECT_TRUE(
        fails_with(ErrorKind::kCancelled, "cancelled", [&] { search(words, Text{8}, options); }));
    EXPECT_EQ(steps, 3);
  }
}

TEST(Search, GivesFewerTextsThanBeamsWhereThereAreNoMore) {
  ScoredTexts words(few_logits);
  const auto found = search(words, Text{1}, {.beams = 9, .most_tokens = 1, .stop_ids = {0}});
  EXPECT_EQ(found.size(), 4U);
  EXPECT_TRUE(std::ranges::is_sorted(found, std::greater{}, &Hypothesis::score));
}

TEST(Search, RulesThatForbidEveryWordAreAnError) {
  for (const int64_t beams : {1, 3}) {
    ScoredTexts words(few_logits);
    SearchOptions options{.beams = beams, .most_tokens = 9};
    options.rules.no_repeat_ngram_size = 1;
    EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "forbid every word after 3 written",
                           [&] { search(words, Text{1}, options); }));
    options.stop_ids = {0};  // what has ended by then is an answer
    options.beams = 6;
    for (const Hypothesis& text : search(words, Text{1}, options)) EXPECT_EQ(text.ids.back(), 0);
  }
}

TEST(Search, OptionsThatCannotBeAreRefused) {
  const auto refused = [](std::string_view part, const SearchOptions& options) {
    ScoredTexts words(few_logits);
    return fails_with(ErrorKind::kInvalidArgument, part, [&] { search(words, Text{1}, options); });
  };
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(refused("0 beams", {.beams = 0}));
  EXPECT_TRUE(refused("1 to 1024", {.beams = 1025}));
  EXPECT_TRUE(refused("0 new tokens", {.most_tokens = 0}));
  EXPECT_TRUE(refused("257 tokens end a text", {.stop_ids = Text(257, 1)}));
  EXPECT_TRUE(refused("nan", {.length_penalty = kNaN}));
  EXPECT_TRUE(refused("-10 to 10", {.length_penalty = 11}));
  EXPECT_TRUE(refused("names token 4 but the vocabulary has 4",
                      {.beams = 2, .rules = {.forced_bos_token_id = 4}}));
  ScoredTexts words(few_logits);
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "the prompt has none",
                         [&] { search(words, Text{}, {}); }));
}

TEST(Search, ScoresThatAreNotFiniteAreAnErrorAndMinusInfinityIsNot) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const int64_t beams : {1, 2}) {
    const auto find = [&](std::vector<float> scores) {
      ScoredTexts words([&](const Text&) { return scores; });
      return search(words, Text{1}, {.beams = beams, .most_tokens = 2})[0].ids;
    };
    EXPECT_THAT(find({-kInfinity, 1, 2}), ElementsAre(2, 2));
    for (const float bad : {kInfinity, std::numeric_limits<float>::quiet_NaN()}) {
      EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "not all finite", [&] { find({1, bad, 2}); }));
    }
  }
}

}  // namespace
}  // namespace fovea
