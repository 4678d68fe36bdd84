#include "fovea/generate/generate.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"

namespace fovea {
void check_room(const ModelFacts& facts, int64_t prompt, int64_t more) {
  constexpr int64_t kMost = int64_t{1} << 24;
  if (more < 1 || more > kMost) {
    fail(ErrorKind::kInvalidArgument, "{} new tokens are asked for; it must be 1 to {}", more,
         kMost);
  }
  const int64_t most = facts.most_positions();
  if (most > 0 && more > most - prompt + 1) {
    fail(ErrorKind::kInvalidArgument,
         "the prompt has {} tokens and {} more are asked for, but this model has positions for {}; "
         "ask for {} at most",
         prompt, more, most, std::max<int64_t>(most - prompt + 1, 0));
  }
}

namespace {

double probability_of(std::span<const float> logits, int64_t id) {
  const double largest = double{*std::ranges::max_element(logits)};
  double sum = 0;
  for (const float logit : logits) sum += std::exp(double{logit} - largest);
  return std::exp(double{logits[static_cast<size_t>(id)]} - largest) / sum;
}

}  // namespace

std::vector<int64_t> generate(const Model& model, std::span<const int64_t> prompt,
                              const GenerateOptions& options, AttentionCache& cache) {
  const ModelFacts& facts = model.facts();
  if (facts.head != HeadKind::kCausalLm || !facts.main.causal) {
    fail(ErrorKind::kUnsupported,
         "this model does not write text: its head is '{}'; take a causal language model",
         name_of(facts.head));
  }
  FOVEA_ASSERT(cache.length() == 0);
  check_room(facts, static_cast<int64_t>(prompt.size()), options.most_tokens);
  Sampler sample(options.sampling);
  const Pass pass{.cache = &cache, .logits = LogitRows::kLast};
  ModelInputs step{.input_ids = {prompt.begin(), prompt.end()}};
  std::vector<int64_t> ids;
  while (true) {
    const ModelOutputs outputs = model.forward(step, pass);
    const auto logits = outputs.logits.tensor.values<float>();
    const int64_t id = sample(logits);
    ids.push_back(id);
    if (options.probabilities) options.probabilities->push_back(probability_of(logits, id));
    if (options.on_token) options.on_token(id);
    const bool stops = std::ranges::find(options.stop_ids, id) != options.stop_ids.end();
    if (stops || static_cast<int64_t>(ids.size()) == options.most_tokens) return ids;
    step.input_ids = {id};
  }
}

}  // namespace fovea
