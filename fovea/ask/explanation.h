// What a method is asked of a run: a question of the kind "explain" with everything that it leaves
// open chosen by what suits the model and the run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fovea/ask/finished_run.h"
#include "fovea/ask/picture_answer.h"
#include "fovea/ask/question.h"
#include "fovea/engine/engine_subject.h"
#include "fovea/engine/named_target.h"
#include "fovea/explain/method.h"

namespace fovea {

// Refers to the run.
struct AskedExplanation {
  const FinishedRun* run = nullptr;
  RunNeeds needs;  // of the method; the run may hold more
  Method method;
  GivenParameters parameters;
  SiteKind kind = SiteKind::kSelf;
  std::optional<PictureSeen> picture;  // under the map
  int64_t position = 0;                // row of that attention, and where the answer stands
  std::string position_name;  // "seen from [CLS]", "writing mat"; empty: nobody asks from one
  std::optional<int64_t> layer;
  std::optional<int64_t> head;
  std::optional<PositionSpan> span;
  std::optional<NamedTarget> target;
  std::optional<NamedTarget> against;
  // What a check watches, where one is asked for: the target, or what the model answers.
  std::optional<NamedTarget> watched;
  std::optional<NamedTarget> watched_against;
  std::vector<std::string> notes;  // what was chosen where there was a choice

  const RunResult& result() const { return run->result(); }
  const Engine* engine() const { return run->engine(); }
};

// Before the model runs. Throws Error{kInvalidArgument} about a field that the method, the model or
// its input has no use for, or with the valid range for what is not there; and Error{kUnsupported}
// for an input that is too long for the method, or too short for a check.
void check_explanation(const Question& question, const OpenedInput& opened);
// What the method reads of a run.
RunNeeds explanation_needs(const Question& question, const OpenedInput& opened);
// Throws what choosing a position, a stretch and a target throws; of a captured run what
// check_needs() and the checks of fields throw, too.
AskedExplanation asked_explanation(const Question& question, const FinishedRun& run);

// What the model says of itself; of a captured run what its axes and rules tell.
bool has_decoder(const AskedExplanation& asked);
bool finds_objects(const AskedExplanation& asked);
bool is_causal(const AskedExplanation& asked);

// The model and the input of the run, to run it again; gives the logits that targets need.
EngineSubject subject_of(const AskedExplanation& asked);
Explanation explained(const AskedExplanation& asked);
// The same about the same input, asked of a model with other weights.
Explanation explained_by(const Engine& engine, const AskedExplanation& asked);

}  // namespace fovea
