// A question about many inputs: the second entry of this folder, beside Session.
#pragma once

#include <functional>
#include <optional>

#include "fovea/ask/answer.h"
#include "fovea/ask/many/inputs.h"
#include "fovea/ask/many/state.h"
#include "fovea/ask/question.h"
#include "fovea/base/watch.h"
#include "fovea/engine/engine.h"

namespace fovea {

struct ManyOptions {
  ManyState state = {};                // goes on from there
  std::optional<Engine> reverse = {};  // a model of the opposite direction, where the kind has one
  // Called between steps with what is counted so far: to keep it, or to take rows out of it, which
  // then nobody else has.
  std::function<void(ManyState&)> between = nullptr;
};

// Throws Error{kInvalidArgument} about a field, and Error{kUnsupported}, for what the model does
// not do, before an input is read. Nothing that is wrong with one input throws: it is left out. A
// count that is cancelled returns what it has; the inputs it was at are not in it.
ManyState ask_all(const Engine& engine, const ManyInputs& inputs, const Question& question,
                  const Watch& watch = {}, ManyOptions options = {});

// What such a count belongs to: a state goes on where this is the same.
Json identity_of(const Engine& engine, const ManyInputs& inputs, const Question& question,
                 const std::optional<Engine>& reverse = {});

// Throws Error{kBadFile} with the first reason if every input was left out.
Answer answer_of(const ManyState& state, const Engine& engine, const ManyInputs& inputs,
                 const Question& question);

}  // namespace fovea
