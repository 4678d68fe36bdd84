// What `fovea explain` asks a method: an input that has been through a model, which attention, from
// which position, and about which answer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fovea/cli/command.h"
#include "fovea/cli/given_input.h"
#include "fovea/engine/engine_subject.h"
#include "fovea/engine/named_target.h"
#include "fovea/engine/picture_input.h"
#include "fovea/explain/method.h"

namespace fovea {

struct ExplainQuestion {
  std::optional<Engine> engine = {};  // none: of a captured run, which nobody can run again
  Method method;
  std::optional<PictureInput> picture;
  RunResult result;
  SiteKind kind = SiteKind::kSelf;
  int64_t position = 0;       // row of that attention, and where the answer stands
  std::string position_name;  // "seen from [CLS]", "writing mat"; empty: nobody asks from one
  std::optional<int64_t> layer;
  std::optional<int64_t> head;
  std::optional<PositionSpan> span;
  std::optional<NamedTarget> target;
  std::optional<NamedTarget> against;
  GivenParameters parameters;
  std::vector<std::string> notes;  // what was chosen where there was a choice
  RunOptions how;                  // the run was made
  // What a check watches, where one is asked for: the target, or what the model answers.
  std::optional<NamedTarget> watched;
  std::optional<NamedTarget> watched_against;
};

// Checks what can be checked before any work. Throws Error{kInvalidArgument}.
void check_question(const Args& args);
// The model of --model, or what suits the input and --method. Throws as open_engine does.
Engine open_for_question(const GivenInput& given, const Args& args);
// Runs the model. Throws what that throws, and Error{kInvalidArgument} with the valid range for a
// class, word, query, layer, head or position that is not there; before the run
// Error{kUnsupported} for an input that is too long for the method, or too short for a check.
ExplainQuestion read_question(const GivenInput& given, const Args& args, const Engine& engine,
                              const Method& method);

// Of a captured run: throws Error{kInvalidArgument} for options that only a model or its input has.
void check_run_args(const GivenInput& given, const Args& args);
// The same as read_question, from what the records, axes and picture of the run tell. Throws as
// load_run and check_needs do too.
ExplainQuestion read_run_question(const GivenInput& given, const Args& args);

// What the model says of itself; of a captured run what its axes and rules tell.
bool has_decoder(const ExplainQuestion& question);
bool finds_objects(const ExplainQuestion& question);
bool is_causal(const ExplainQuestion& question);

// Throws Error{kInvalidArgument} for an option that would change nothing: a misunderstanding.
void refuse_what_is_not_asked(const Args& args, const ExplainQuestion& question);
// --layer, --head; the position and its name, and --span, where the run is there. Throw
// Error{kInvalidArgument} for what is not there.
void set_layer_and_head(const Args& args, ExplainQuestion& question);
void set_position(const Args& args, ExplainQuestion& question);

// The question's model and input, to run again; gives the logits that targets need.
EngineSubject subject_of(const ExplainQuestion& question);
Explanation answer(const ExplainQuestion& question);
// The same question about the same input, asked of a model with other weights.
Explanation answer_of(const Engine& engine, const ExplainQuestion& question);

}  // namespace fovea
