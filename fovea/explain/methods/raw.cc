#include <fmt/format.h>

#include "fovea/atlas/attention_map.h"
#include "fovea/base/error.h"
#include "fovea/explain/method.h"
#include "fovea/explain/rollout.h"

namespace fovea {
namespace {

std::string refuses(const Run&) {
  return "";
}

Explanation explain_raw(const ExplainRequest& request) {
  const LayerRecords layers = layers_of(request.run, request.kind);
  const int64_t layer = request.layer.value_or(static_cast<int64_t>(layers.size()) - 1);
  if (layer < 0 || layer >= static_cast<int64_t>(layers.size())) {
    fail(ErrorKind::kInvalidArgument, "layer {} is asked for but there are 0 to {}", layer,
         layers.size() - 1);
  }
  const auto& record = layers[static_cast<size_t>(layer)];
  const AttentionShape shape = record->shape();
  if (request.head && (*request.head < 0 || *request.head >= shape.heads)) {
    fail(ErrorKind::kInvalidArgument, "head {} is asked for but there are 0 to {}", *request.head,
         shape.heads - 1);
  }
  if (request.position < 0 || request.position >= shape.rows) {
    fail(ErrorKind::kInvalidArgument, "position {} is asked for but there are 0 to {}",
         request.position, shape.rows - 1);
  }
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
          .measures = fmt::format("attention weight, layer {}", layer),
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
          .needs = {},
          .parameters = {},
          .refuses = refuses,
          .explain = explain_raw};
}

}  // namespace fovea
