#include "fovea/explain/target_gradient.h"

#include "fovea/base/error.h"
#include "fovea/explain/input_sums.h"

namespace fovea {
namespace {

// Cosines of f32 vectors with themselves are this near to 1.
constexpr double kOwnCosine = 1 - 1e-6;

}  // namespace

SubjectGradient target_gradient(const ExplainRequest& request, GradientRequest what) {
  what.target = *request.target;
  if (request.against != nullptr) what.against = *request.against;
  SubjectGradient gradient = request.subject->gradient(what);
  const bool own = std::holds_alternative<SimilarityTarget>(what.target) && !what.against &&
                   what.at.empty() && gradient.value >= kOwnCosine;
  if (own) {
    fail(ErrorKind::kInvalidArgument, Field{"against"},
         "the answer asked about is the input's own embedding, which no change can be nearer to, "
         "so its gradient is 0; give a text or picture to be similar to");
  }
  return gradient;
}

std::vector<InputGradient> asked_inputs(const ExplainRequest& request,
                                        const std::vector<InputGradient>& inputs) {
  const Axis& columns = columns_of(request.run, request.kind);
  std::vector<InputGradient> asked;
  for (const InputGradient& input : inputs) {
    if (input.axis == columns.name) asked.insert(asked.begin(), input);
    if (request.kind == SiteKind::kCross && input.axis == "target") asked.push_back(input);
  }
  if (asked.empty() || asked.front().axis != columns.name) {
    fail(ErrorKind::kUnsupported, Field{"site"},
         "the {} are no input of the model, so there is no gradient at them; leave it out",
         columns.name);
  }
  return asked;
}

std::vector<double> position_scores(const Axis& axis, const InputGradient& input,
                                    const Tensor& each) {
  std::vector<double> scores = position_sums(input, each);
  if (scores.size() > axis.positions.size()) {
    fail(ErrorKind::kInvalidArgument, "{} covers {} positions but the {} have {}", input.name,
         scores.size(), axis.name, axis.positions.size());
  }
  scores.insert(scores.begin(), axis.positions.size() - scores.size(), 0.0);
  return scores;
}

}  // namespace fovea
