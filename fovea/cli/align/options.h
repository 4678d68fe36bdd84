// What `translate` and `align` have in common: how an alignment is read from cross-attention.
#pragma once

#include <vector>

#include "fovea/cli/command.h"
#include "fovea/explain/alignment/aligner.h"

namespace fovea {

// What only alignments have: --read --norms --convention --links --threshold --ignore-end.
std::vector<Option> align_options();
// Those, and --layer and --head as alignments take them. Throws Error{kInvalidArgument} for what
// does not go together.
AlignOptions read_align_options(const Args& args);

}  // namespace fovea
