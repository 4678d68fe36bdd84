// From what people name - a class, a word, an object query, a text - to what methods ask about.
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
  // Of models with classes a label or its number, 3 or #3; of models that write a word or its id,
  // #id where that is a word too; of models that embed a text to be similar to. None: what the
  // model answers, or that the embedding stays as it is.
  std::optional<std::string> name;
  // Of models that embed: what to be similar to instead of the text `name`, which is what it is
  // called. A picture say: nobody opens a file because a text is its name.
  std::optional<EncodedInput> similar_to;
  int64_t position = 0;          // of models that answer at every position: at which
  std::optional<int64_t> query;  // of models that find objects; none: the surest object
};

// Of a run whose logits hold that position. Throws Error{kInvalidArgument} with the valid range for
// a class, word or query that is not there.
NamedTarget named_target(const Engine& engine, const RunResult& result, const TargetChoice& choice);

// Rows of logits that named_target() needs; `last`: the position is the last one.
LogitRows logits_for_target(const Engine& engine, bool last);

}  // namespace fovea
