// What statistics must know of the positions of an input.
#pragma once

#include "fovea/capture/run.h"
#include "fovea/explain/corpus_statistics.h"

namespace fovea {

// Of a text: its ids, special tokens, and which tokens are punctuation. `ids` may be empty.
PositionKinds text_kinds(const Axis& axis, const std::vector<int64_t>& ids);
// Of a picture: its special tokens and its grid.
PositionKinds picture_kinds(const Axis& axis);

}  // namespace fovea
