// Inputs in which positions are blank: what BlankPosition asks for.
#pragma once

#include <vector>

#include "fovea/engine/engine.h"

namespace fovea {

// A token becomes the tokenizer's mask token, or where it has none its unknown or padding token; a
// patch of a picture becomes 0, the mean colour of the preprocessor. Throws Error{kUnsupported}
// where there is nothing of the kind and Error{kInvalidArgument} for a position that is not there.
ModelInputs changed_inputs(const Engine& engine, const EncodedInput& input,
                           const std::vector<Intervention>& changes);

}  // namespace fovea
