// Searches for the text that follows a prompt. The search sees no model, only scores of words.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "fovea/generate/token_rules.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

// What a search asks of a model. Scores are f32 logits in a tensor that nobody else holds, because
// the search changes them.
class NextWords {
 public:
  virtual ~NextWords() = default;
  // Begins with one hypothesis: scores [1, vocabulary] of the word after the prompt.
  virtual Tensor start(std::span<const int64_t> prompt) = 0;
  // Continues: hypothesis h takes the earlier hypothesis parents[h] and the word ids[h]. Gives the
  // scores [hypotheses, vocabulary] of the words after. The number of hypotheses may change.
  virtual Tensor step(std::span<const int64_t> parents, std::span<const int64_t> ids) = 0;
};

// When beam search stops, once it has `beams` finished texts; transformers' early_stopping.
enum class EarlyStopping {
  kHeuristic,  // false: when the best open text, at its present length, is no better than the worst
  kAtOnce,     // true: at once
  kExhaustive,  // "never": when no open text can become better, whatever its length
};

struct SearchOptions {
  int64_t beams = 1;
  int64_t most_tokens = 20;   // after the prompt
  double length_penalty = 1;  // beam search compares log p / length^penalty
  EarlyStopping early_stopping = EarlyStopping::kHeuristic;
  std::vector<int64_t> stop_ids;  // the end of a text
  TokenRules rules;
  // Called after every step with the best text so far, without the prompt.
  std::function<void(std::span<const int64_t> best)> on_step = nullptr;
};

struct Hypothesis {
  std::vector<int64_t> ids;  // without the prompt; the end is kept
  // Beam search: log p / length^penalty. Greedy search computes none and says 0.
  double score = 0;
  // rows[i] is the row of scores from which ids[i] was chosen. What was recorded for that row at
  // step i belongs to this text.
  std::vector<int64_t> rows;
};

constexpr int64_t kMostBeams = 1024;
constexpr size_t kMostStopIds = 256;            // a step keeps beams * (1 + this) candidates
constexpr double kStrongestLengthPenalty = 10;  // positive or negative; beyond it f32 overflows

// Throws Error{kInvalidArgument} with the number that cannot be; the rules are not looked at.
void validate(const SearchOptions& options);

// The same ids, and within rounding the same scores, as transformers' generate without sampling:
// greedy for one beam, beam search otherwise, best first, `beams` texts at most. Fewer where the
// rules leave no more; where transformers fills up with worthless texts, nothing is returned.
// Throws Error{kInvalidArgument} if an option cannot be, the prompt is empty, or the rules forbid
// every word; Error{kBadFile} if a score is NaN or infinite; what `words` throws.
std::vector<Hypothesis> search(NextWords& words, std::span<const int64_t> prompt,
                               const SearchOptions& options);

// The two kinds of search, for options that are known to be valid.
Hypothesis greedy_search(NextWords& words, std::span<const int64_t> prompt,
                         const SearchOptions& options);
std::vector<Hypothesis> beam_search(NextWords& words, std::span<const int64_t> prompt,
                                    const SearchOptions& options);

}  // namespace fovea
