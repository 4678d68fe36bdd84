#include "fovea/engine/embedding.h"

#include <algorithm>

namespace fovea {
namespace {

// 1 / count for every position that is no padding.
std::vector<double> mean_word_weights(int64_t positions,
                                      const std::vector<int64_t>& attention_mask) {
  std::vector<double> weights(static_cast<size_t>(positions), 1);
  int64_t count = positions;
  if (!attention_mask.empty()) {
    count = positions - std::ranges::count(attention_mask, 0);
    for (size_t i = 0; i < weights.size(); ++i) weights[i] = attention_mask[i] == 0 ? 0 : 1;
  }
  for (double& weight : weights) weight /= static_cast<double>(std::max<int64_t>(count, 1));
  return weights;
}

}  // namespace

EmbeddingOutput embedding_output(const ModelFacts& facts, const ModelInputs& inputs,
                                 const ModelOutputs& outputs) {
  for (const Value* value : {&outputs.image_embeds, &outputs.text_embeds, &outputs.pooler_output}) {
    if (!value->tensor.empty()) return {*value, {}};
  }
  const Value& states = outputs.last_hidden_state;
  if (states.tensor.rank() != 2) return {};
  if (!facts.text_stack().causal && !facts.has_decoder()) {
    return {states, mean_word_weights(states.shape()[0], inputs.attention_mask)};
  }
  std::vector<double> last(static_cast<size_t>(states.shape()[0]));
  last.back() = 1;
  return {states, std::move(last)};
}

Tensor EmbeddingOutput::vector() const {
  if (weights.empty()) return output.tensor.reshaped({output.tensor.elements()});
  const MatrixView<const float> rows = output.tensor.matrix<float>();
  std::vector<double> sum(static_cast<size_t>(rows.cols));
  for (int64_t i = 0; i < rows.rows; ++i) {
    const double weight = weights[static_cast<size_t>(i)];
    if (weight == 0) continue;
    for (int64_t c = 0; c < rows.cols; ++c)
      sum[static_cast<size_t>(c)] += weight * double{rows(i, c)};
  }
  Tensor result = Tensor::uninitialized({rows.cols});
  std::ranges::transform(sum, result.mutable_values<float>().begin(),
                         [](double value) { return static_cast<float>(value); });
  return result;
}

Tensor EmbeddingOutput::spread(const Tensor& gradient) const {
  if (weights.empty()) return gradient.reshaped(output.shape());
  Tensor result(output.shape());
  const MatrixView<float> rows = result.mutable_matrix<float>();
  for (int64_t i = 0; i < rows.rows; ++i) {
    const auto weight = static_cast<float>(weights[static_cast<size_t>(i)]);
    for (int64_t c = 0; c < rows.cols; ++c) {
      rows(i, c) = weight * gradient.values<float>()[static_cast<size_t>(c)];
    }
  }
  return result;
}

}  // namespace fovea
