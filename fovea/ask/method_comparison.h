// Methods that explain, graded side by side on the same inputs.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "fovea/ask/session.h"
#include "fovea/base/error.h"
#include "fovea/explain/faithfulness/comparison.h"
#include "fovea/explain/method.h"

namespace fovea {

struct ComparedInputs {
  int64_t count = 0;
  // Opens one of them. What is wrong with it is told in the comparison, while others are fine.
  std::function<Session(int64_t input)> open;
};

// `question` is of the kind "explain", with "check" and without a method; each method takes those
// of its parameters that it has. `told` is how an error is told to people. Throws
// Error{kInvalidArgument} about a parameter that no method has, and Error{kUnsupported} if no
// method could be graded. Whose model it is and what the inputs are called is the caller's to say.
MethodComparison compare_methods(const ComparedInputs& inputs, std::span<const Method> methods,
                                 const Question& question,
                                 const std::function<std::string(const Error&)>& told);

Json comparison_json(const MethodComparison& comparison);

}  // namespace fovea
