// Writes a score rule as JSON and tensors of a run file, and reads it back.
#pragma once

#include <string>
#include <vector>

#include "fovea/attention/score_rule.h"
#include "fovea/base/json.h"
#include "fovea/io/safetensors.h"

namespace fovea {

// Numbers go into the JSON object, arrays into `tensors` under names that begin with `site`.
Json rule_to_json(const ScoreRule& rule, const std::string& site,
                  std::vector<NamedTensor>& tensors);

// Throws Error{kBadFile} naming `where`. validate() checks whether the rule fits an attention.
ScoreRule rule_from_json(const Json& json, const SafetensorsFile& file, const std::string& site,
                         const std::string& where);

}  // namespace fovea
