// The JSON Schema of questions and inputs, made from what their fields say of themselves.
#pragma once

#include "fovea/base/json.h"

namespace fovea {

// A JSON Schema (draft 2020-12) of a question: one of "$defs", which also hold "input".
Json question_schema();

}  // namespace fovea
