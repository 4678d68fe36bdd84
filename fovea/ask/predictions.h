// What a model said besides its maps: classes, words behind masks, the text it wrote.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fovea/ask/finished_run.h"
#include "fovea/base/json.h"

namespace fovea {

inline constexpr size_t kMostCandidates = 5;

// The same scores. Throws Error{kBadFile} if one is not finite.
std::span<const float> finite_scores(std::span<const float> scores);
// The most probable, largest first; of equals the first.
std::vector<int64_t> best_indices(const std::vector<double>& probabilities,
                                  size_t most = kMostCandidates);

struct Candidate {
  int64_t index = 0;
  std::string name;
  double probability = 0;
};

struct Predictions {
  std::optional<double> score;     // for a regression
  std::vector<Candidate> classes;  // the best first
  bool multi_label = false;        // several may hold at once
  struct Mask {
    int64_t position = 0;
    std::vector<Candidate> words;
  };
  std::vector<Mask> masks;
  std::string prompt;   // as it was read
  std::string written;  // and how the model continued; empty: it did not
  std::vector<Candidate> written_tokens;
};

// Whether predictions_of() will need the logits. They are left out if nobody would read the output.
bool logits_wanted(const Engine& engine, const EncodedInput& input);

// Throws Error{kBadFile} if a score is not finite.
Predictions predictions_of(const Engine& engine, const RunResult& result);

// The predictions, or the translation, as facts.
Json output_facts(const FinishedRun& run);
Json to_json(const std::vector<Candidate>& candidates);

}  // namespace fovea
