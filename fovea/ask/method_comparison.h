// Grades methods that explain, side by side on the same inputs.
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
  // Opens one of the inputs. If that fails, the comparison says why, as long as others work.
  std::function<Session(int64_t input)> open;
};

// Grades the methods. `question` is of the kind "explain", with "check" and without a method; each
// method takes the parameters that it has. `told` turns an error into words for people. Throws
// Error{kInvalidArgument} about a parameter that no method has, and Error{kUnsupported} if no
// method could be graded. The caller fills in the model and the name of the inputs.
MethodComparison compare_methods(const ComparedInputs& inputs, std::span<const Method> methods,
                                 const Question& question,
                                 const std::function<std::string(const Error&)>& told);

Json comparison_json(const MethodComparison& comparison);

}  // namespace fovea
