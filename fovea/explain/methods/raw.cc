#include "fovea/atlas/attention_map.h"
#include "fovea/explain/method.h"

namespace fovea {
namespace {

Explanation explain_raw(const ExplainRequest& request) {
  const auto record = layer_asked(request);
  const AttentionShape shape = record->shape();
  std::vector<double> scores(static_cast<size_t>(shape.cols));
  for (int64_t head = request.head.value_or(0); head < request.head.value_or(shape.heads - 1) + 1;
       ++head) {
    const std::vector<float> row = AttentionMap(record, head).row(request.position);
    for (size_t j = 0; j < row.size(); ++j) scores[j] += double{row[j]};
  }
  if (!request.head) {
    for (double& score : scores) score /= static_cast<double>(shape.heads);
  }
  return {.axis = columns_of(request.run, request.kind),
          .scores = std::move(scores),
          .layer = record->site.layer,
          .measures = "attention weight",
          .notes = {}};
}

}  // namespace

Method raw_method() {
  return {.name = "raw",
          .summary = "the attention weights themselves: one row of one layer, mean of its heads",
          .answers =
              "Where does this position look in this layer? Attention routes information; what "
              "is then done with it the weights do not say, so a high weight is not importance.",
          .cost = "N d for the row",
          .needs = {.position = true},
          .parameters = {},
          .takes_layer = true,
          .takes_head = true,
          .explain = explain_raw};
}

}  // namespace fovea
