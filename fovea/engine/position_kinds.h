// What statistics must know of the positions of an input.
#pragma once

#include "fovea/capture/run.h"
#include "fovea/explain/corpus_statistics.h"

namespace fovea {

// Of a text: its ids, special tokens, and which tokens are punctuation. `padding_id`: what the text
// was filled up with; -1: nothing.
PositionKinds text_kinds(const Axis& axis, const std::vector<int64_t>& ids,
                         int64_t padding_id = -1);
// Of a picture: its grid, the special tokens before it, and cells that show only padding.
PositionKinds picture_kinds(const Axis& axis);

}  // namespace fovea
