// Turns what people name - a class, a word, an object query, a text - into the target that methods
// ask about.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "fovea/capture/subject.h"
#include "fovea/engine/engine.h"

namespace fovea {

struct NamedTarget {
  Target target;
  std::string name;  // for titles and captions: "class cat", "the word mat", "query 7 as cat"
};

// "class cat", "class cat rather than class dog".
std::string answer_name(const NamedTarget& target, const std::optional<NamedTarget>& against);

struct TargetChoice {
  // A class (label or number, 3 or #3), a word (or its id, #id if the number is a word too), or,
  // for a model that embeds, a text to be similar to. None: what the model answers itself, or that
  // its embedding stays as it is.
  std::optional<std::string> name;
  // For a model that embeds: an input to be similar to, in the place of the text `name`, which is
  // then only its name. It may be a picture. A text is never taken as the name of a file.
  std::optional<EncodedInput> similar_to;
  int64_t position = 0;          // which one, if the model answers at every position
  std::optional<int64_t> query;  // for a model that finds objects; none: the surest one
};

// Finds the target in a run; its logits must hold that position. Throws Error{kInvalidArgument}
// with the valid range for a class, word or query that is not there.
NamedTarget named_target(const Engine& engine, const RunResult& result, const TargetChoice& choice);

// Which rows of logits named_target() needs. `last`: the position is the last one.
LogitRows logits_for_target(const Engine& engine, bool last);

}  // namespace fovea
