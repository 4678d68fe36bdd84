// Boxes of a detector against true ones, and its objects' masks against true ones.
#pragma once

#include <memory>

#include "fovea/ask/answer.h"
#include "fovea/ask/many/counter.h"

namespace fovea {

// The index of a name among the model's labels; -1: it does not know it.
int64_t label_index(const Engine& engine, const std::string& name);

// COCO's average precision and recall. Each picture's true boxes and all that each model finds are
// kept.
std::unique_ptr<Counter> detection_counter(const ManyAsked& asked);
Answer detection_scores_answer(const ManyAsked& asked, const ManyState& state);

// Masks of found objects out of attention, by every way there is.
std::unique_ptr<Counter> object_mask_counter(const ManyAsked& asked);
Answer object_mask_answer(const ManyAsked& asked, const ManyState& state);

}  // namespace fovea
