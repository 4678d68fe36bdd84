// What is asked of a method that explains: fields made from what methods say of themselves, and the
// method and parameters that a question means by them.
#pragma once

#include <span>
#include <vector>

#include "fovea/ask/field.h"
#include "fovea/ask/question.h"
#include "fovea/engine/engine.h"
#include "fovea/explain/method.h"

namespace fovea {

// Random orders that an explanation is checked with: of one input, and of each of many.
inline constexpr int64_t kOrdersOfOne = 32;
inline constexpr int64_t kOrdersOfEach = 8;

// Of a question of the kind "explain".
std::vector<FieldInfo> explanation_fields();

// "method", or what suits the model: relevancy; of one that embeds and is given nothing to compare
// with rollout.
Method method_asked(const Question& question, const ModelFacts& facts);
// The same of a captured run: the method through all layers, where there are layers to go through.
Method method_asked(const Question& question, const Run& run);

// What the question says of the method's parameters. Throws as check_parameters() does, also for
// one of another method.
GivenParameters parameters_asked(const Question& question, const Method& method);

// The question as one to this method: parameters that only others have are left out.
Question asked_of_method(const Question& question, const Method& method);
// Throws Error{kInvalidArgument} about a parameter that none of these methods has.
void check_known_parameters(const Question& question, std::span<const Method> methods);

// Whether an answer of the model is asked about by what it is similar to.
bool embeds(const ModelFacts& facts);
// Whether single edges from the position are taken away, one after the other.
bool cuts_edges(const GivenParameters& parameters);

}  // namespace fovea
