#include "fovea/explain/integrated_gradients.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/progress.h"

namespace fovea {
namespace {

void check_baselines(const std::vector<InputGradient>& inputs, const std::vector<Tensor>& baseline,
                     int64_t steps) {
  if (steps < 1 || inputs.size() != baseline.size()) {
    fail(ErrorKind::kInvalidArgument, "{} steps for {} inputs with {} baselines; give at least one",
         steps, inputs.size(), baseline.size());
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].values.shape() == baseline[i].shape()) continue;
    fail(ErrorKind::kInvalidArgument, "the baseline of {} is {} but the input is {}",
         inputs[i].name, to_string(baseline[i].shape()), to_string(inputs[i].values.shape()));
  }
}

// x' + part (x - x')
Tensor between(const Tensor& from, const Tensor& to, double part) {
  Tensor point = from.clone();
  const std::span<float> values = point.mutable_values<float>();
  const std::span<const float> ends = to.values<float>();
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] += static_cast<float>(part * (double{ends[i]} - double{values[i]}));
  }
  return point;
}

std::map<std::string, Tensor> points(const std::vector<InputGradient>& inputs,
                                     const std::vector<Tensor>& baseline, double part) {
  std::map<std::string, Tensor> at;
  for (size_t i = 0; i < inputs.size(); ++i) {
    at[inputs[i].name] = between(baseline[i], inputs[i].values, part);
  }
  return at;
}

void add_gradient(const SubjectGradient& gradient, const std::string& name,
                  std::vector<double>& sum) {
  const auto found = std::ranges::find(gradient.inputs, name, &InputGradient::name);
  FOVEA_ASSERT(found != gradient.inputs.end());
  const std::span<const float> values = found->gradient.values<float>();
  for (size_t i = 0; i < sum.size(); ++i) sum[i] += double{values[i]};
}

}  // namespace

double IntegratedGradients::gap() const {
  double sum = 0;
  for (const Tensor& tensor : attributions) {
    for (const float value : tensor.values<float>()) sum += double{value};
  }
  return sum - (at_input - at_baseline);
}

IntegratedGradients integrated_gradients(Subject& subject, const GradientRequest& what,
                                         const std::vector<InputGradient>& inputs,
                                         const std::vector<Tensor>& baseline, int64_t steps) {
  check_baselines(inputs, baseline, steps);
  GradientRequest request = what;
  request.record.reset();
  IntegratedGradients result;
  request.inputs = false;
  request.at = points(inputs, baseline, 1);
  result.at_input = subject.gradient(request).value;
  request.at = points(inputs, baseline, 0);
  result.at_baseline = subject.gradient(request).value;

  request.inputs = true;
  std::vector<std::vector<double>> sums;
  for (const InputGradient& input : inputs) {
    sums.emplace_back(static_cast<size_t>(input.values.elements()));
  }
  Progress progress("integrating", steps);
  for (int64_t step = 0; step < steps; ++step) {
    request.at =
        points(inputs, baseline, (static_cast<double>(step) + 0.5) / static_cast<double>(steps));
    const SubjectGradient gradient = subject.gradient(request);
    for (size_t i = 0; i < inputs.size(); ++i) add_gradient(gradient, inputs[i].name, sums[i]);
    progress.advance();
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    Tensor attribution(inputs[i].values.shape());
    const std::span<const float> x = inputs[i].values.values<float>();
    const std::span<const float> from = baseline[i].values<float>();
    for (size_t at = 0; at < x.size(); ++at) {
      attribution.mutable_values<float>()[at] = static_cast<float>(
          (double{x[at]} - double{from[at]}) * sums[i][at] / static_cast<double>(steps));
    }
    result.attributions.push_back(std::move(attribution));
  }
  return result;
}

}  // namespace fovea
