// What a model said besides its maps: classes, words behind masks, the text it wrote.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fovea/ask/finished_run.h"
#include "fovea/base/json.h"

namespace fovea {

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
