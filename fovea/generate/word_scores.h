// The scores of one step of a search: checked, and read row by row.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fovea/tensor/tensor.h"

namespace fovea {

// Row `row` of scores [rows, vocabulary], to be changed.
std::span<float> score_row(Tensor& scores, int64_t row);

// The first of the best scores, -1 if all are -infinity. Throws Error{kBadFile} if one is NaN or
// infinite.
int64_t best_word(std::span<const float> scores);

// scores <- log of the probabilities of which they are logits. Throws as above, and if all are
// -infinity. `scratch` is for reuse from row to row.
void log_softmax(std::span<float> scores, std::vector<float>& scratch);

}  // namespace fovea
