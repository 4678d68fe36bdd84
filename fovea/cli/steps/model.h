// `fovea steps INPUT`: one token's attention in a real model, read and as data.
#pragma once

#include <string_view>
#include <vector>

#include "fovea/base/json.h"
#include "fovea/cli/command.h"
#include "fovea/cli/given_input.h"
#include "fovea/figure/model_steps_view.h"
#include "fovea/io/named_tensor.h"

namespace fovea {

// What --similarity takes to show them beside each other.
inline constexpr std::string_view kAllSimilarities = "all";

// Runs the model on what is given. Throws Error{kInvalidArgument} if there is no such layer,
// head or token.
ModelStepsView read_model_steps(const GivenInput& given, const Args& args);

// Every number, in full precision.
Json model_steps_json(const ModelStepsView& view);
std::vector<NamedTensor> model_steps_arrays(const ModelSteps& steps);

}  // namespace fovea
