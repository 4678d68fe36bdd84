#include "fovea/explain/integrated_gradients.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/explain/method.h"
#include "fovea/explain/target_gradient.h"

namespace fovea {

Method integrated_gradients_method();

namespace {

// The baseline of each input, where the line begins.
std::vector<Tensor> baseline_of(const ExplainRequest& request,
                                const std::vector<InputGradient>& inputs, bool blank) {
  std::vector<Tensor> baseline;
  if (!blank) {
    for (const InputGradient& input : inputs) baseline.emplace_back(input.values.shape());
    return baseline;
  }
  const SubjectGradient read =
      target_gradient(request, {.target = {}, .record = {}, .at = {}, .blank = true});
  for (const InputGradient& input : inputs) {
    const auto found = std::ranges::find(read.inputs, input.name, &InputGradient::name);
    FOVEA_ASSERT(found != read.inputs.end());
    baseline.push_back(found->values);
  }
  return baseline;
}

std::vector<std::string> gradient_notes(const IntegratedGradients& found, int64_t steps) {
  const double moved = found.at_input - found.at_baseline;
  const double share = moved != 0 ? std::abs(found.gap() / moved) : 0;
  std::vector<std::string> notes{
      fmt::format("from {:.4g} at the baseline to {:.4g}; the scores miss {:.2g} % of that",
                  found.at_baseline, found.at_input, 100 * share)};
  if (share > 0.05) notes.push_back(fmt::format("take more than {} steps to miss less", steps));
  return notes;
}

Explanation explain_integrated_gradients(const ExplainRequest& request) {
  const Method method = integrated_gradients_method();
  const int64_t steps = whole_parameter(method, request, "steps");
  const bool blank = choice_parameter(method, request, "baseline") == "blank";
  const std::vector<InputGradient> inputs = asked_inputs(
      request, target_gradient(request, {.target = {}, .record = {}, .at = {}}).inputs);
  GradientRequest what{.target = *request.target, .record = {}, .at = {}};
  if (request.against != nullptr) what.against = *request.against;
  const IntegratedGradients found = integrated_gradients(
      *request.subject, what, inputs, baseline_of(request, inputs, blank), steps);
  Explanation explanation{.axis = columns_of(request.run, request.kind),
                          .is_signed = true,
                          .measures = "part of the change",
                          .notes = gradient_notes(found, steps)};
  explanation.scores = position_scores(explanation.axis, inputs.front(), found.attributions[0]);
  if (inputs.size() > 1) {
    explanation.target_axis = *request.run.find_axis(inputs[1].axis);
    explanation.target_scores =
        position_scores(explanation.target_axis, inputs[1], found.attributions[1]);
  }
  return explanation;
}

}  // namespace

Method integrated_gradients_method() {
  return {
      .name = "integrated-gradients",
      .summary = "gradients added up from an empty input to this one; they sum to the change",
      .answers =
          "How much of the change from an empty input to this one is each position's? The scores "
          "sum to that change, and the note says how nearly. What counts as empty decides the "
          "answer, and the way there leads through inputs that the model has never seen.",
      .cost = "a run forward and back for each step",
      .needs = {.subject = true, .target = true, .gradient = true},
      .parameters = {{.name = "steps",
                      .help = "points on the way, in the middle of equal parts",
                      .otherwise = "32",
                      .least = 2,
                      .most = 1024},
                     {.name = "baseline",
                      .help =
                          "where the way begins: zero: embeddings of 0, the mean colour; blank: "
                          "the mask token (or the unknown or padding one) in every place",
                      .otherwise = "zero",
                      .choices = {"zero", "blank"}}},
      .explain = explain_integrated_gradients};
}

}  // namespace fovea
