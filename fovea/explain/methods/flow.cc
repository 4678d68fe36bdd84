#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "fovea/atlas/attention_map.h"
#include "fovea/base/cancel.h"
#include "fovea/base/error.h"
#include "fovea/base/progress.h"
#include "fovea/explain/max_flow.h"
#include "fovea/explain/method.h"
#include "fovea/explain/rollout.h"

namespace fovea {

Method flow_method();

namespace {

constexpr int64_t kMostPositions = 128;
constexpr double kUnits = 1e7;   // of capacity in a weight of 1
constexpr double kLeast = 1e-4;  // of weights that are let through

// One layer's weights, half of which stay where they are: rows by columns, row by row.
std::vector<double> mixed_weights(const std::shared_ptr<const AttentionRecord>& record) {
  const AttentionShape shape = record->shape();
  std::vector<double> weights(static_cast<size_t>(shape.rows * shape.cols));
  for (int64_t head = 0; head < shape.heads; ++head) {
    const AttentionMap map(record, head);
    for (int64_t i = 0; i < shape.rows; ++i) {
      const std::vector<float> row = map.row(i);
      for (int64_t j = 0; j < shape.cols; ++j) {
        weights[static_cast<size_t>(i * shape.cols + j)] +=
            0.5 * double{row[static_cast<size_t>(j)]} / static_cast<double>(shape.heads);
      }
    }
  }
  for (int64_t i = 0; i < shape.rows; ++i) weights[static_cast<size_t>(i * shape.cols + i)] += 0.5;
  return weights;
}

// Nodes are positions before the first layer, after it, after the second, ...
FlowNetwork network_of(const LayerRecords& layers, int64_t positions) {
  FlowNetwork network((static_cast<int64_t>(layers.size()) + 1) * positions);
  for (size_t layer = 0; layer < layers.size(); ++layer) {
    const std::vector<double> weights = mixed_weights(layers[layer]);
    const int64_t below = static_cast<int64_t>(layer) * positions;
    for (int64_t i = 0; i < positions; ++i) {
      for (int64_t j = 0; j < positions; ++j) {
        const double weight = weights[static_cast<size_t>(i * positions + j)];
        if (weight < kLeast) continue;
        network.add_edge(below + positions + i, below + j, static_cast<int64_t>(weight * kUnits));
      }
    }
  }
  return network;
}

Explanation explain_flow(const ExplainRequest& request) {
  const LayerRecords layers = layers_of(request.run, request.kind);
  const int64_t positions = layers.front()->shape().rows;
  if (request.position < 0 || request.position >= positions) {
    fail(ErrorKind::kInvalidArgument, "position {} is asked for but there are 0 to {}",
         request.position, positions - 1);
  }
  FlowNetwork network = network_of(layers, positions);
  const int64_t source = static_cast<int64_t>(layers.size()) * positions + request.position;
  Explanation explanation{.axis = columns_of(request.run, request.kind),
                          .measures = "share of the attention flow"};
  Progress progress("flows", positions);
  for (int64_t j = 0; j < positions; ++j) {
    check_cancelled();
    explanation.scores.push_back(static_cast<double>(network.max_flow(source, j)) / kUnits);
    progress.advance();
  }
  const double sum = std::accumulate(explanation.scores.begin(), explanation.scores.end(), 0.0);
  const auto reached =
      std::ranges::count_if(explanation.scores, [](double flow) { return flow > 0; });
  explanation.notes = {fmt::format(
      "flows saturate: no position can take more than 1, and the {} that are reached take {:.1f}; "
      "the nearer these are, the less the map says",
      reached, sum)};
  for (double& score : explanation.scores) score = sum > 0 ? score / sum : 0;
  return explanation;
}

}  // namespace

Method flow_method() {
  return {.name = "flow",
          .summary = "attention as pipes: how much could flow from each position to this one",
          .answers =
              "If every attention weight were a pipe, how much could flow from each input position "
              "to this one through all layers? Each position is asked alone and may use all pipes, "
              "so flows saturate and deep maps are nearly flat; values, norms and feed-forward "
              "parts are not in it.",
          .cost = "N largest flows through L N^2 pipes; up to 128 positions",
          .needs = {.position = true, .one_stack = true},
          .parameters = {},
          .most_positions = kMostPositions,
          .explain = explain_flow};
}

}  // namespace fovea
