// What a model says about one input before and after a change, number beside number.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fovea/ask/finished_run.h"
#include "fovea/base/json.h"
#include "fovea/figure/table.h"

namespace fovea {

struct Outcome {
  std::string label;             // a word, a class, an object
  std::optional<int64_t> index;  // its number there
  double before = 0;
  double after = 0;
  std::string note;            // what else changed: "now dog"
  Json more = Json::object();  // members for programs: boxes
};

struct OutcomeGroup {
  std::string of;       // "next word", "class", "mask 5", "objects"
  std::string measure;  // "probability", "score", "cosine"
  std::vector<Outcome> rows;
};

// Compares the answers of both runs: next words, words behind masks or of a translation, classes,
// objects above `threshold`. For a model without answers, it compares states. Both runs are of one
// input and hold the logits that outcome_needs() asks for.
std::vector<OutcomeGroup> outcomes(const FinishedRun& before, const FinishedRun& after,
                                   double threshold);
RunNeeds outcome_needs(const ModelFacts& facts);

TableFigure outcome_table(const std::vector<OutcomeGroup>& groups);
Json to_json(const std::vector<OutcomeGroup>& groups);

}  // namespace fovea
