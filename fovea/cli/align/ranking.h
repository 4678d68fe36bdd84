// `fovea align --ranking`: the statistics of every map as a table.
#pragma once

#include <string>

#include "fovea/base/json.h"

namespace fovea {

// Of what a ranking of maps answers.
std::string ranking_text(const Json& ranking);

}  // namespace fovea
