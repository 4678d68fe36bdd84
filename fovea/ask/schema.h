// Makes the JSON Schema of questions and inputs from what their fields say about themselves.
#pragma once

#include "fovea/base/json.h"

namespace fovea {

// The JSON Schema (draft 2020-12) of a question: one of "$defs", which also hold "input".
Json question_schema();

}  // namespace fovea
