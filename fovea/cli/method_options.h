// Finds methods by the names that people type.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fovea/explain/method.h"

namespace fovea {

std::vector<std::string> method_names();

// Throws Error{kInvalidArgument} that says what `option` is, lists all names and suggests the
// nearest.
Method method_named(std::string_view option, std::string_view name);

}  // namespace fovea
