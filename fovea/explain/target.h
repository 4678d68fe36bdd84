// What is asked about the output of a model, as one number.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "fovea/capture/subject.h"

namespace fovea {

enum class TargetMeasure {
  kLogit,        // or the cosine, for a similarity
  kProbability,  // softmax over the classes or tokens; a sigmoid where several may hold
};

// The softmax of a model's logits, one or more, in double: of classes or words that exclude each
// other.
std::vector<double> probabilities(std::span<const float> logits);
// Of one that may hold beside others.
double sigmoid(double logit);

// Throws Error{kInvalidArgument} with the valid range for a class, token, position or query that
// the output does not have, and Error{kUnsupported} where it has nothing of the kind.
double target_value(const Target& target, const SubjectOutput& output, TargetMeasure measure,
                    bool multi_label = false);

// The same of a contrast: logits are subtracted; as a probability that of `target` where only these
// two are possible.
double contrast_value(const Target& target, const Target& against, const SubjectOutput& output,
                      TargetMeasure measure);

// The class or word that the model prefers to all others where the target is one of them; none for
// a similarity.
std::optional<int64_t> preferred_answer(const Target& target, const SubjectOutput& output);

// Intersection over union of the boxes that an object query has in two outputs.
double box_overlap(const BoxTarget& target, const SubjectOutput& a, const SubjectOutput& b);

}  // namespace fovea
