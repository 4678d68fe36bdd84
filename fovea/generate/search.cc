#include "fovea/generate/search.h"

#include <cmath>
#include <utility>

#include "fovea/base/error.h"

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

}  // namespace fovea
