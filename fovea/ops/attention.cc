#include "fovea/ops/attention.h"

#include "fovea/kernels/attention.h"
#include "fovea/kernels/attention_backward.h"

namespace fovea::ops {
namespace {

AttentionInputs inputs_of(const Tensor& queries, const Tensor& keys, const Tensor& values,
                          const ScoreRule& rule) {
  return {HeadsView::of(queries), HeadsView::of(keys), HeadsView::of(values), &rule};
}

}  // namespace

AttentionResult attention(const Value& queries, const Value& keys, const Value& values,
                          std::shared_ptr<const ScoreRule> rule, DType compute) {
  AttentionInputs inputs = inputs_of(queries.tensor, keys.tensor, values.tensor, *rule);
  inputs.compute = compute;
  validate(inputs);
  const AttentionShape shape = inputs.shape();
  Tensor output = Tensor::uninitialized({shape.heads, shape.rows, shape.value_dim});
  Tensor lse = Tensor::uninitialized({shape.heads, shape.rows}, DType::kF64);
  fovea::attention(inputs, MutableHeadsView::of(output), lse.mutable_values<double>());
  return known_attention(queries, keys, values, std::move(rule), output, lse);
}

AttentionResult known_attention(const Value& queries, const Value& keys, const Value& values,
                                std::shared_ptr<const ScoreRule> rule, const Tensor& output,
                                const Tensor& lse) {
  Tape* tape = common_tape({&queries, &keys, &values});
  if (tape == nullptr) return {Value(output), lse};
  auto vjp = [q = queries.tensor, k = keys.tensor, v = values.tensor, rule = std::move(rule),
              output, lse](const Tensor& gradient, InputGradients& wanted) {
    AttentionGradients gradients = attention_backward(
        inputs_of(q, k, v, *rule), HeadsView::of(output), lse.values<double>(),
        HeadsView::of(gradient),
        {.scores = wanted.wanted(0) || wanted.wanted(1), .values = wanted.wanted(2)});
    if (wanted.wanted(0)) wanted.add(0, std::move(gradients.queries));
    if (wanted.wanted(1)) wanted.add(1, std::move(gradients.keys));
    if (wanted.wanted(2)) wanted.add(2, std::move(gradients.values));
  };
  return {tape->record(output, {queries.node, keys.node, values.node}, std::move(vjp)), lse};
}

}  // namespace fovea::ops
