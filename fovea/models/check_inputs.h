// What all models check before they run.
#pragma once

#include <span>
#include <string_view>

#include "fovea/models/model.h"

namespace fovea {

// Throws Error{kInvalidArgument} unless there are ids and all are below `vocabulary`.
void check_ids(const Config& config, std::span<const int64_t> ids, int64_t vocabulary);
// Throws Error{kInvalidArgument} unless `values` is empty or has `size` entries, as many as the
// input called `beside`.
void check_beside(std::string_view name, std::span<const int64_t> values, std::string_view beside,
                  int64_t size);
// Throws Error{kInvalidArgument} unless `pixels` are a picture that the model can see: channels,
// size, finite numbers.
void check_pixels(const Config& config, const ModelFacts& facts, const Tensor& pixels);
// Throws Error{kInvalidArgument} naming the first given input that the model does not take. `model`
// says what it is: "a text model".
void refuse_inputs(std::string_view model, const ModelInputs& inputs,
                   std::initializer_list<std::string_view> not_taken);

}  // namespace fovea
