// A question of the kind "explain", complete: what it leaves open is chosen to suit the model and
// the run.
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
  RunNeeds needs;  // what the method needs; the run may hold more
  Method method;
  GivenParameters parameters;
  SiteKind kind = SiteKind::kSelf;
  std::optional<PictureSeen> picture;  // under the map
  int64_t position = 0;                // row of that attention, and position of the answer
  std::string position_name;  // "seen from [CLS]", "writing mat"; empty: nobody asks from one
  std::optional<int64_t> layer;
  std::optional<int64_t> head;
  std::optional<PositionSpan> span;
  std::optional<NamedTarget> target;
  std::optional<NamedTarget> against;
  // What a check watches, if one is asked for: the target, or else the model's own answer.
  std::optional<NamedTarget> watched;
  std::optional<NamedTarget> watched_against;
  std::vector<std::string> notes;  // what was chosen for the user

  const RunResult& result() const { return run->result(); }
  const Engine* engine() const { return run->engine(); }
};

// Checks the question before the model runs. Throws Error{kInvalidArgument} about a field that the
// method, the model or its input has no use for, or with the valid range if something is not there.
// Throws Error{kUnsupported} for an input that is too long for the method, or too short for a
// check.
void check_explanation(const Question& question, const OpenedInput& opened);
// What the method needs from a run.
RunNeeds explanation_needs(const Question& question, const OpenedInput& opened);
// Completes the question. Throws what choosing a position, a stretch and a target throws; for a
// captured run also what check_needs() and the checks of fields throw.
AskedExplanation asked_explanation(const Question& question, const FinishedRun& run);

// Facts about the model. For a captured run, its axes and rules tell them.
bool has_decoder(const AskedExplanation& asked);
bool finds_objects(const AskedExplanation& asked);
bool is_causal(const AskedExplanation& asked);

// The run's model and input, ready to run again. It gives the logits that targets need.
EngineSubject subject_of(const AskedExplanation& asked);
Explanation explained(const AskedExplanation& asked);
// The same explanation of the same input, from a model with other weights.
Explanation explained_by(const Engine& engine, const AskedExplanation& asked);

}  // namespace fovea
