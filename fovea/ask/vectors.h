// Attention of vectors that somebody chose, from a JSON file: what is asked about them, and every
// intermediate as data. fovea/figure draws it (vector_steps.h).
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "fovea/ask/field.h"
#include "fovea/base/json.h"
#include "fovea/figure/vector_steps.h"
#include "fovea/io/named_tensor.h"

namespace fovea {

struct VectorSteps {
  StepsProblem problem;
  StepsResult result;
  StepsView view;  // the part that is asked about
};

// similarity, temperature, token, at, head, column.
std::span<const FieldInfo> vector_fields();

// `file` is what the text is called. Throws as parse_steps() does, and Error{kInvalidArgument}
// about a field: a wrong value, or no such label, pixel or head.
VectorSteps ask_vectors(std::string_view text, std::string_view file, const Json& question);

// Every intermediate, whatever part of them is shown. Masked scores are null.
Json vectors_json(const VectorSteps& steps);
// The same as arrays, heads first.
std::vector<NamedTensor> vectors_arrays(const VectorSteps& steps);

}  // namespace fovea
