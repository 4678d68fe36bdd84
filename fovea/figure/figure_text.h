// The words that every figure carries.
#pragma once

#include <string>

#include "fovea/base/json.h"

namespace fovea {

struct FigureText {
  std::string title;          // "MiniLM · self-attention · layer 5"
  std::string caption;        // row or column, layer, head, method and sum: never left out
  Json metadata;              // embedded in the file and written beside it: model hash, input, ...
  std::string badge = {};     // beside the title, easy to see: the run was changed
  std::string subtitle = {};  // below the title: "7,639 tokens, 510 × 510 bins of 15 × 15"
};

}  // namespace fovea
