// Makes inputs with blank positions, which BlankPosition asks for.
#pragma once

#include <vector>

#include "fovea/engine/engine.h"

namespace fovea {

// A blank token is the tokenizer's mask token, or else its unknown or padding token. A blank patch
// is 0, the preprocessor's mean colour. Throws Error{kUnsupported} if the model has no such token
// or the input cannot be blank, and Error{kInvalidArgument} for a position that is not there.
ModelInputs changed_inputs(const Engine& engine, const EncodedInput& input,
                           const std::vector<Intervention>& changes);

}  // namespace fovea
