#include "fovea/generate/token_rules.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include "fovea/base/error.h"

namespace fovea {
namespace {

constexpr float kForbidden = -std::numeric_limits<float>::infinity();

void check_rule_ids(std::string_view rule, std::span<const int64_t> ids, int64_t vocabulary) {
  for (const int64_t id : ids) {
    if (id < 0 || id >= vocabulary) {
      fail(ErrorKind::kInvalidArgument, "{} names token {} but the vocabulary has {}; correct it",
           rule, id, vocabulary);
    }
  }
}

void check_not_negative(std::string_view rule, int64_t value) {
  if (value < 0) fail(ErrorKind::kInvalidArgument, "{} is {} but must be 0 or more", rule, value);
}

// A prompt may hold ids that the model reads but has no score for.
void forbid(std::span<const int64_t> ids, std::span<float> scores) {
  for (const int64_t id : ids) {
    if (id >= 0 && id < std::ssize(scores)) scores[static_cast<size_t>(id)] = kForbidden;
  }
}

void force(std::span<const int64_t> ids, std::span<float> scores) {
  std::ranges::fill(scores, kForbidden);
  for (const int64_t id : ids) scores[static_cast<size_t>(id)] = 0;
}

}  // namespace

void validate(const TokenRules& rules, int64_t vocabulary) {
  const double penalty = rules.repetition_penalty;
  if (!(penalty >= kWeakestRepetitionPenalty && penalty <= kStrongestRepetitionPenalty)) {
    fail(ErrorKind::kInvalidArgument, "repetition_penalty is {} but must be from {} to {}", penalty,
         kWeakestRepetitionPenalty, kStrongestRepetitionPenalty);
  }
  check_not_negative("no_repeat_ngram_size", rules.no_repeat_ngram_size);
  check_not_negative("min_length", rules.min_length);
  check_not_negative("min_new_tokens", rules.min_new_tokens);
  for (const std::vector<int64_t>& words : rules.bad_words_ids) {
    if (words.empty()) {
      fail(ErrorKind::kInvalidArgument, "bad_words_ids has an entry without tokens; remove it");
    }
    check_rule_ids("bad_words_ids", words, vocabulary);
  }
  if (rules.forced_bos_token_id) {
    check_rule_ids("forced_bos_token_id", {&*rules.forced_bos_token_id, 1}, vocabulary);
  }
  check_rule_ids("forced_eos_token_id", rules.forced_eos_token_id, vocabulary);
  check_rule_ids("suppress_tokens", rules.suppress_tokens, vocabulary);
  check_rule_ids("begin_suppress_tokens", rules.begin_suppress_tokens, vocabulary);
}

ScoreRules::ScoreRules(const TokenRules& rules, std::span<const int64_t> stop_ids,
                       int64_t prompt_length, int64_t most_tokens)
    : rules_(rules),
      stop_ids_(stop_ids),
      prompt_length_(prompt_length),
      max_length_(prompt_length + most_tokens),
      begin_(prompt_length > 1 || !rules.forced_bos_token_id ? prompt_length : prompt_length + 1) {}

// The order is that of transformers: a later rule has the last word.
void ScoreRules::apply(std::span<const int64_t> text, std::span<float> scores) const {
  const int64_t length = std::ssize(text);
  if (rules_.repetition_penalty != 1) penalise_repetition(text, scores);
  if (rules_.no_repeat_ngram_size > 0) forbid_repeated_ngrams(text, scores);
  if (!rules_.bad_words_ids.empty()) forbid_bad_words(text, scores);
  if (length < rules_.min_length) forbid(stop_ids_, scores);
  if (length - prompt_length_ < rules_.min_new_tokens) forbid(stop_ids_, scores);
  if (length == 1 && rules_.forced_bos_token_id) force({&*rules_.forced_bos_token_id, 1}, scores);
  if (length == max_length_ - 1 && !rules_.forced_eos_token_id.empty()) {
    force(rules_.forced_eos_token_id, scores);
  }
  forbid(rules_.suppress_tokens, scores);
  if (length == begin_) forbid(rules_.begin_suppress_tokens, scores);
}

void ScoreRules::penalise_repetition(std::span<const int64_t> text, std::span<float> scores) const {
  const auto penalty = static_cast<float>(rules_.repetition_penalty);
  std::vector<std::pair<size_t, float>> changed;  // all read before one is written: each word once
  for (const int64_t id : text) {
    if (id < 0 || id >= std::ssize(scores)) continue;
    const float score = scores[static_cast<size_t>(id)];
    changed.emplace_back(static_cast<size_t>(id), score < 0 ? score * penalty : score / penalty);
  }
  for (const auto& [id, score] : changed) scores[id] = score;
}

void ScoreRules::forbid_repeated_ngrams(std::span<const int64_t> text,
                                        std::span<float> scores) const {
  const int64_t length = std::ssize(text), size = rules_.no_repeat_ngram_size;
  if (length < size) return;
  const auto before = static_cast<size_t>(size - 1);  // the words that the next one would follow
  const auto suffix = text.last(before);
  for (size_t start = 0; start + before < text.size(); ++start) {
    if (std::ranges::equal(text.subspan(start, before), suffix)) {
      forbid(text.subspan(start + before, 1), scores);
    }
  }
}

void ScoreRules::forbid_bad_words(std::span<const int64_t> text, std::span<float> scores) const {
  for (const std::vector<int64_t>& words : rules_.bad_words_ids) {
    const size_t before = words.size() - 1;
    const bool is_an_end = before == 0 && std::ranges::find(stop_ids_, words[0]) != stop_ids_.end();
    if (is_an_end || before > text.size()) continue;  // a text may always end
    const std::span<const int64_t> all(words);
    if (std::ranges::equal(text.last(before), all.first(before))) {
      forbid(all.subspan(before), scores);
    }
  }
}

}  // namespace fovea
