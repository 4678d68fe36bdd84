// Which methods the user means, and their parameters: --method and an option for each parameter.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fovea/cli/command.h"
#include "fovea/explain/method.h"
#include "fovea/models/model.h"

namespace fovea {

// One option for each parameter of any method.
std::vector<Option> method_parameter_options();

std::vector<std::string> method_names();

// Throws Error{kInvalidArgument} that says what `option` is, lists all names and guesses which was
// meant.
Method method_named(std::string_view option, std::string_view name);

// Those that --method lists; none given: all. Throws as method_named.
std::vector<Method> chosen_methods(const Args& args);
// --method, or relevancy; of a model that embeds and is given nothing to compare with, rollout.
Method chosen_method(const Args& args, const ModelFacts& facts);

// What was given of the method's parameters. Of several methods each takes what it knows; one alone
// throws Error{kInvalidArgument} for what it does not.
GivenParameters parameters_for(const Args& args, const Method& method);
// Throws Error{kInvalidArgument} for parameters that none of these methods has.
void check_known_parameters(const Args& args, const std::vector<Method>& methods);

}  // namespace fovea
