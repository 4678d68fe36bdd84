// What a text must or must not hold. The rules act while it is written, by changing the scores of
// its next word.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace fovea {

// Each member is the key of transformers' generation_config.json and means the same.
struct TokenRules {
  double repetition_penalty = 1;     // scores of words that are in the text: above 1 less likely
  int64_t no_repeat_ngram_size = 0;  // so many words in a row occur only once; 0: no such rule
  std::vector<std::vector<int64_t>> bad_words_ids;  // these in a row are never written
  int64_t min_length = 0;                           // no end before, the prompt counted
  int64_t min_new_tokens = 0;                       // no end before, the prompt not counted
  std::optional<int64_t> forced_bos_token_id;       // the second word of a text
  std::vector<int64_t> forced_eos_token_id;         // one of these is the last word at the limit
  std::vector<int64_t> suppress_tokens;             // never written
  std::vector<int64_t> begin_suppress_tokens;       // not the first word that is chosen freely
};

// A penalty this weak is still far from overflow in f32.
constexpr double kWeakestRepetitionPenalty = 0.001;
constexpr double kStrongestRepetitionPenalty = 1000;

// Throws Error{kInvalidArgument} naming the rule if a number makes no sense or an id is not in a
// vocabulary of that size.
void validate(const TokenRules& rules, int64_t vocabulary);

// The rules for one text from its prompt to its limit. Holds on to `rules` and `stop_ids`.
class ScoreRules {
 public:
  ScoreRules(const TokenRules& rules, std::span<const int64_t> stop_ids, int64_t prompt_length,
             int64_t most_tokens);
  // Changes the scores of the word after `text`, which begins with the prompt. Scores are logits or
  // logarithms of probabilities; what is forbidden gets -infinity.
  void apply(std::span<const int64_t> text, std::span<float> scores) const;

 private:
  void penalise_repetition(std::span<const int64_t> text, std::span<float> scores) const;
  void forbid_repeated_ngrams(std::span<const int64_t> text, std::span<float> scores) const;
  void forbid_bad_words(std::span<const int64_t> text, std::span<float> scores) const;

  const TokenRules& rules_;
  std::span<const int64_t> stop_ids_;
  int64_t prompt_length_;
  int64_t max_length_;
  int64_t begin_;  // length of a text whose next word is the first free one
};

}  // namespace fovea
