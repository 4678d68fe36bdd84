#include <cmath>

#include "fovea/explain/method.h"
#include "fovea/explain/target_gradient.h"

namespace fovea {

Method input_gradient_method();

namespace {

std::vector<double> scores_of(const Axis& axis, const InputGradient& input, bool norm) {
  Tensor products = input.gradient.clone();
  const std::span<float> each = products.mutable_values<float>();
  const std::span<const float> factors =
      norm ? input.gradient.values<float>() : input.values.values<float>();
  for (size_t i = 0; i < each.size(); ++i) each[i] *= factors[i];
  std::vector<double> scores = position_scores(axis, input, products);
  for (double& score : scores) score = norm ? std::sqrt(score) : score;
  return scores;
}

Explanation explain_input_gradient(const ExplainRequest& request) {
  const bool norm = choice_parameter(input_gradient_method(), request, "as") == "norm";
  const std::vector<InputGradient> inputs = asked_inputs(
      request, target_gradient(request, {.target = {}, .record = {}, .at = {}}).inputs);
  Explanation explanation{.axis = columns_of(request.run, request.kind),
                          .is_signed = !norm,
                          .measures = norm ? "length of the gradient" : "input times gradient",
                          .notes = {}};
  explanation.scores = scores_of(explanation.axis, inputs.front(), norm);
  if (inputs.size() > 1) {
    explanation.target_axis = *request.run.find_axis(inputs[1].axis);
    explanation.target_scores = scores_of(explanation.target_axis, inputs[1], norm);
  }
  return explanation;
}

}  // namespace

Method input_gradient_method() {
  return {.name = "input-gradient",
          .summary = "the gradient of the answer at the input, times the input, or its length",
          .answers =
              "Which positions would change the answer if they changed a little? It is a slope, "
              "not a share: where the answer is sure the slope is flat, and of deep models it is "
              "noisy. integrated-gradients adds slopes up over larger changes.",
          .cost = "one run forward and back",
          .needs = {.subject = true, .target = true, .gradient = true},
          .parameters = {{.name = "as",
                          .help = "dot: input times gradient, signed; norm: length of the gradient",
                          .otherwise = "dot",
                          .choices = {"dot", "norm"}}},
          .explain = explain_input_gradient};
}

}  // namespace fovea
