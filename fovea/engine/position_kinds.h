// What statistics must know about the positions of an input.
#pragma once

#include "fovea/capture/run.h"
#include "fovea/explain/corpus_statistics.h"

namespace fovea {

// For a text: its ids, its special tokens, and which tokens are punctuation. `padding_id` is the
// token that filled the text up; -1: none did.
PositionKinds text_kinds(const Axis& axis, const std::vector<int64_t>& ids,
                         int64_t padding_id = -1);
// For a picture: its grid, the special tokens before it, and the cells that show only padding.
PositionKinds picture_kinds(const Axis& axis);

}  // namespace fovea
