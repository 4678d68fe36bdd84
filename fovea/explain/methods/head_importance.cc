#include "fovea/explain/head_importance.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/explain/method.h"
#include "fovea/explain/target_gradient.h"

namespace fovea {

Method head_importance_method();

namespace {

constexpr size_t kNamedHeads = 3;

std::string foremost(const Explanation& explanation) {
  std::vector<size_t> order(explanation.scores.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [&](size_t i) { return explanation.scores[i]; });
  order.resize(std::min(kNamedHeads, order.size()));
  std::vector<std::string> named;
  for (const size_t i : order) {
    named.push_back(
        fmt::format("{} {:.3g}", explanation.axis.positions[i].text, explanation.scores[i]));
  }
  return fmt::format("most: {}", fmt::join(named, ", "));
}

int64_t heads_of(const ExplainRequest& request, const std::map<int, std::vector<double>>& layers) {
  if (layers.empty()) {
    fail(ErrorKind::kUnsupported, Field{"site"},
         "the answer asked about does not depend on attention like {}; choose another",
         to_string(SiteId{request.kind, 0}));
  }
  const size_t heads = layers.begin()->second.size();
  for (const auto& [layer, importance] : layers) {
    if (importance.size() == heads) continue;
    fail(ErrorKind::kUnsupported, "layer {} has {} heads but others have {}", layer,
         importance.size(), heads);
  }
  return static_cast<int64_t>(heads);
}

Explanation explain_head_importance(const ExplainRequest& request) {
  const bool by_layer = choice_parameter(head_importance_method(), request, "normalize") == "layer";
  std::map<int, std::vector<double>> layers;
  RecorderOptions record{.outputs = true,
                         .wanted = [&](SiteId site) { return site.kind == request.kind; },
                         .give_to =
                             [&](int64_t, const AttentionRecord& layer) {
                               layers[layer.site.layer] = head_importance(layer);
                             }};
  target_gradient(request, {.target = {}, .inputs = false, .record = record, .at = {}});
  const int64_t heads = heads_of(request, layers);
  Explanation explanation{.axis = heads_axis(layers.rbegin()->first + 1, heads)};
  explanation.scores.resize(explanation.axis.positions.size());
  // A layer that the answer does not depend on keeps 0.
  for (auto& [layer, importance] : layers) {
    if (by_layer) normalise_layer(importance);
    std::ranges::copy(importance, explanation.scores.begin() + heads * layer);
  }
  explanation.measures =
      by_layer ? "head importance within its layer" : "change of the answer by the head's gate";
  explanation.notes = {foremost(explanation)};
  return explanation;
}

}  // namespace

Method head_importance_method() {
  return {.name = "head-importance",
          .summary = "how much the answer would change first if a head were turned down",
          .answers =
              "Which heads does this answer hang on? It is the slope at a gate on each head's "
              "output, so that heads which stand in for each other may all seem idle or all "
              "needed; ablation of heads takes them away for good.",
          .cost = "one run forward and back",
          .needs = {.subject = true, .target = true, .gradient = true},
          .parameters = {{.name = "normalize",
                          .help = "layer: heads of a layer divided by their L2 norm (Michel et "
                                  "al.); none: as they are",
                          .otherwise = "layer",
                          .choices = {"layer", "none"}}},
          .scores_heads = true,
          .explain = explain_head_importance};
}

}  // namespace fovea
