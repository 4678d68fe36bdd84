// Lets a causal model write text, word by word.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "fovea/generate/sampling.h"
#include "fovea/layers/attention_cache.h"
#include "fovea/models/model.h"

namespace fovea {

struct GenerateOptions {
  int64_t most_tokens = 20;
  Sampling sampling;
  std::vector<int64_t> stop_ids;  // the end of a text; kept as the last token
  std::function<void(int64_t id)> on_token = nullptr;
  // Gets what the model gives each token, the softmax of its scores however they are sampled.
  std::vector<double>* probabilities = nullptr;
};

// Throws Error{kInvalidArgument} with the numbers if `more` tokens after a prompt of `prompt`
// exceed the model's positions, or all bounds.
void check_room(const ModelFacts& facts, int64_t prompt, int64_t more);

// The tokens that follow the prompt, which must not be empty. `cache` must be empty. Afterwards it
// holds the attention of every step: of the prompt and of all new tokens but the last, from which
// nothing was computed. Throws Error{kUnsupported} if the model does not score next words, and
// Error{kInvalidArgument} with both numbers if prompt and new tokens exceed its positions.
std::vector<int64_t> generate(const Model& model, std::span<const int64_t> prompt,
                              const GenerateOptions& options, AttentionCache& cache);

}  // namespace fovea
