// The number of a model's output that is asked about.
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

// The softmax of a model's logits, in double: for classes or words that exclude each other.
std::vector<double> probabilities(std::span<const float> logits);
// The probability of a class that may hold beside others.
double sigmoid(double logit);

// Compares two vectors of the same length. 0 if one of them holds nothing but zeros.
double cosine(std::span<const float> a, std::span<const float> b);

// The target's value. Throws Error{kInvalidArgument} with the valid range for a class, token,
// position or query that the output does not have, and Error{kUnsupported} if the model has no such
// output.
double target_value(const Target& target, const SubjectOutput& output, TargetMeasure measure,
                    bool multi_label = false);

// The value of a contrast: the difference of two logits, or the probability of `target` if only
// these two were possible.
double contrast_value(const Target& target, const Target& against, const SubjectOutput& output,
                      TargetMeasure measure);

// The class or word that the model prefers among all that could be in the target's place; none for
// a similarity.
std::optional<int64_t> preferred_answer(const Target& target, const SubjectOutput& output);

// The intersection over union of an object query's boxes in two outputs.
double box_overlap(const BoxTarget& target, const SubjectOutput& a, const SubjectOutput& b);

}  // namespace fovea
