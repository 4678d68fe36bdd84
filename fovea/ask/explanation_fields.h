// The fields of questions to methods that explain. They are made from what the methods say about
// themselves. Also finds the method and the parameters that a question means.
#pragma once

#include <span>
#include <vector>

#include "fovea/ask/field.h"
#include "fovea/ask/question.h"
#include "fovea/engine/engine.h"
#include "fovea/explain/method.h"

namespace fovea {

// How many random orders check an explanation where there is one input, and where there are many.
inline constexpr int64_t kOrdersOfOne = 32;
inline constexpr int64_t kOrdersOfEach = 8;

// The fields of a question of the kind "explain".
std::vector<FieldInfo> explanation_fields();

// The fields of a question of the kind "compare": those that explanations by several methods share.
std::vector<FieldInfo> comparison_fields();
// The methods that it names; none named: all.
std::vector<Method> methods_compared(const Question& question);

// Which attention, of those that something is computed from.
FieldInfo computed_site_field();

// The method that "method" names, or else the one that suits the model: relevancy, or rollout for a
// model that embeds and has nothing to compare with.
Method method_asked(const Question& question, const ModelFacts& facts);
// The same for a captured run: the usual method is one through all layers, if there are layers to
// go through.
Method method_asked(const Question& question, const Run& run);

// The question's values for the method's parameters. Throws as check_parameters() does, also for a
// parameter of another method.
GivenParameters parameters_asked(const Question& question, const Method& method);

// The question of a comparison to one method, checked, without the parameters that only other
// methods have.
Question asked_of_method(const Question& question, const Method& method);
// Throws Error{kInvalidArgument} about a parameter that none of these methods has.
void check_known_parameters(const Question& question, std::span<const Method> methods);

// Whether the model embeds: a target is then something to be similar to.
bool embeds(const ModelFacts& facts);
// Whether the method cuts single edges from the position, one after the other.
bool cuts_edges(const GivenParameters& parameters);

}  // namespace fovea
