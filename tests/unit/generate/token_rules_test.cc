#include "fovea/generate/token_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "support/errors.h"

namespace fovea {
namespace {

using ::testing::ElementsAre;
using RuleText = std::vector<int64_t>;
constexpr float kNo = -std::numeric_limits<float>::infinity();

// Six words, scores 1 to 6 but for the last, -6; the prompt has two words, the text at most five.
std::vector<float> changed(const TokenRules& rules, const RuleText& text, int64_t prompt = 2) {
  const RuleText stop_ids{0};
  std::vector<float> scores{1, 2, 3, 4, 5, -6};
  validate(rules, 6);
  ScoreRules(rules, stop_ids, prompt, 5 - prompt).apply(text, scores);
  return scores;
}

TEST(TokenRules, WithoutOneNothingChanges) {
  EXPECT_THAT(changed({}, {1, 2, 3}), ElementsAre(1, 2, 3, 4, 5, -6));
}

TEST(TokenRules, RepetitionIsPenalisedOnceForEachWord) {
  EXPECT_THAT(changed({.repetition_penalty = 2}, {1, 5, 1, 99}), ElementsAre(1, 1, 3, 4, 5, -12));
}

TEST(TokenRules, WordsInARowAreNotRepeated) {
  EXPECT_THAT(changed({.no_repeat_ngram_size = 1}, {1, 3}), ElementsAre(1, kNo, 3, kNo, 5, -6));
  EXPECT_THAT(changed({.no_repeat_ngram_size = 2}, {1, 3, 4, 1}), ElementsAre(1, 2, 3, kNo, 5, -6));
  EXPECT_THAT(changed({.no_repeat_ngram_size = 3}, {1, 3, 4, 3}), ElementsAre(1, 2, 3, 4, 5, -6));
  EXPECT_THAT(changed({.no_repeat_ngram_size = 9}, {1, 3}), ElementsAre(1, 2, 3, 4, 5, -6));
}

TEST(TokenRules, BadWordsAreForbiddenWhereTheyWouldBeCompletedButNeverTheEnd) {
  const TokenRules rules{.bad_words_ids = {{4}, {0}, {2, 3}, {1, 2, 5}, {1, 1, 1, 1, 1}}};
  EXPECT_THAT(changed(rules, {1, 2}), ElementsAre(1, 2, 3, kNo, kNo, kNo));
  EXPECT_THAT(changed(rules, {2, 1}), ElementsAre(1, 2, 3, 4, kNo, -6));
}

TEST(TokenRules, NoEndBeforeTheLeastLength) {
  EXPECT_THAT(changed({.min_length = 4}, {1, 2, 3}), ElementsAre(kNo, 2, 3, 4, 5, -6));
  EXPECT_THAT(changed({.min_length = 3}, {1, 2, 3}), ElementsAre(1, 2, 3, 4, 5, -6));
  EXPECT_THAT(changed({.min_new_tokens = 2}, {1, 2, 3}), ElementsAre(kNo, 2, 3, 4, 5, -6));
  EXPECT_THAT(changed({.min_new_tokens = 1}, {1, 2, 3}), ElementsAre(1, 2, 3, 4, 5, -6));
}

TEST(TokenRules, ForcedWordsStandAloneAtTheirPlaces) {
  const TokenRules rules{.forced_bos_token_id = 3, .forced_eos_token_id = {0, 1}};
  EXPECT_THAT(changed(rules, {1}, 1), ElementsAre(kNo, kNo, kNo, 0, kNo, kNo));
  EXPECT_THAT(changed(rules, {1, 2}), ElementsAre(1, 2, 3, 4, 5, -6));
  EXPECT_THAT(changed(rules, {1, 2, 3, 4}), ElementsAre(0, 0, kNo, kNo, kNo, kNo));
}

TEST(TokenRules, SuppressedWordsAreForbiddenAndSomeOnlyAtTheBeginning) {
  TokenRules rules{.suppress_tokens = {1}, .begin_suppress_tokens = {4, 5}};
  EXPECT_THAT(changed(rules, {1, 2}), ElementsAre(1, kNo, 3, 4, kNo, kNo));
  EXPECT_THAT(changed(rules, {1, 2, 3}), ElementsAre(1, kNo, 3, 4, 5, -6));
  rules.forced_bos_token_id = 3;  // the beginning is after it
  EXPECT_THAT(changed(rules, {1, 3}, 1), ElementsAre(1, kNo, 3, 4, kNo, kNo));
}

TEST(TokenRules, WhatCannotBeIsRefused) {
  const auto refused = [](std::string_view part, const TokenRules& rules) {
    return fails_with(ErrorKind::kInvalidArgument, part, [&] { validate(rules, 6); });
  };
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(refused("repetition_penalty is 0", {.repetition_penalty = 0}));
  EXPECT_TRUE(refused("repetition_penalty is nan", {.repetition_penalty = kNaN}));
  EXPECT_TRUE(refused("no_repeat_ngram_size is -1", {.no_repeat_ngram_size = -1}));
  EXPECT_TRUE(refused("without tokens", {.bad_words_ids = {{}}}));
  EXPECT_TRUE(refused("bad_words_ids names token 6", {.bad_words_ids = {{6}}}));
  EXPECT_TRUE(refused("min_length", {.min_length = -1}));
  EXPECT_TRUE(refused("min_new_tokens", {.min_new_tokens = -1}));
  EXPECT_TRUE(refused("forced_bos_token_id", {.forced_bos_token_id = -1}));
  EXPECT_TRUE(refused("forced_eos_token_id", {.forced_eos_token_id = {0, 6}}));
  EXPECT_TRUE(refused("suppress_tokens", {.suppress_tokens = {6}}));
  EXPECT_TRUE(refused("begin_suppress_tokens", {.begin_suppress_tokens = {-2}}));
}

}  // namespace
}  // namespace fovea
