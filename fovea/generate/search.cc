#include "fovea/generate/search.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/cancel.h"
#include "fovea/base/error.h"
#include "fovea/generate/word_scores.h"

namespace fovea {

void validate(const SearchOptions& options) {
  if (options.beams < 1 || options.beams > kMostBeams) {
    fail(ErrorKind::kInvalidArgument, "{} beams are asked for; it must be 1 to {}", options.beams,
         kMostBeams);
  }
  constexpr int64_t kMostTokens = int64_t{1} << 24;
  if (options.most_tokens < 1 || options.most_tokens > kMostTokens) {
    fail(ErrorKind::kInvalidArgument, "{} new tokens are asked for; it must be 1 to {}",
         options.most_tokens, kMostTokens);
  }
  if (options.stop_ids.size() > kMostStopIds) {
    fail(ErrorKind::kInvalidArgument, "{} tokens end a text; it must be {} at most",
         options.stop_ids.size(), kMostStopIds);
  }
  if (!(std::abs(options.length_penalty) <= kStrongestLengthPenalty)) {
    fail(ErrorKind::kInvalidArgument, "the length penalty is {} but must be from -{} to {}",
         options.length_penalty, kStrongestLengthPenalty, kStrongestLengthPenalty);
  }
}

std::vector<Hypothesis> search(NextWords& words, std::span<const int64_t> prompt,
                               const SearchOptions& options) {
  validate(options);
  if (prompt.empty()) {
    fail(ErrorKind::kInvalidArgument,
         "a search needs at least one token to begin with but the prompt has none");
  }
  if (options.beams > 1) return beam_search(words, prompt, options);
  std::vector<Hypothesis> found;
  found.push_back(greedy_search(words, prompt, options));
  return found;
}

Hypothesis greedy_search(NextWords& words, std::span<const int64_t> prompt,
                         const SearchOptions& options) {
  check_cancelled();
  const int64_t prompt_length = std::ssize(prompt);
  const ScoreRules rules(options.rules, options.stop_ids, prompt_length, options.most_tokens);
  Tensor scores = words.start(prompt);
  validate(options.rules, scores.size(1));
  std::vector<int64_t> text(prompt.begin(), prompt.end());
  while (true) {
    const std::span<float> row = score_row(scores, 0);
    rules.apply(text, row);
    const int64_t id = best_word(row);
    const int64_t written = std::ssize(text) - prompt_length;
    if (id < 0) {
      fail(ErrorKind::kInvalidArgument,
           "the rules of this generation forbid every word after {} written ones; loosen them",
           written);
    }
    text.push_back(id);
    if (options.on_step) options.on_step(std::span(text).subspan(prompt.size()));
    const bool ends = std::ranges::find(options.stop_ids, id) != options.stop_ids.end();
    if (ends || written + 1 == options.most_tokens) break;
    check_cancelled();
    const int64_t parent = 0;
    scores = words.step({&parent, 1}, {&id, 1});
  }
  Hypothesis found;
  found.ids.assign(text.begin() + prompt_length, text.end());
  found.rows.assign(found.ids.size(), 0);
  return found;
}

}  // namespace fovea
