#include "fovea/explain/value_zeroing.h"

#include "fovea/base/error.h"
#include "fovea/explain/method.h"
#include "fovea/explain/rollout.h"

namespace fovea {
namespace {

Explanation explain_value_zeroing(const ExplainRequest& request) {
  const LayerRecords layers = layers_of(request.run, request.kind);
  const AttentionShape shape = layers.front()->shape();
  const ValueZeroingStack stack{request.kind, static_cast<int64_t>(layers.size()), shape.rows};
  Explanation explanation{.axis = columns_of(request.run, request.kind)};
  if (request.layer) {
    const auto record = layer_asked(request);
    const Matrix turns = value_zeroing_layer(*request.subject, stack, *request.layer);
    explanation.scores.assign(turns.row(request.position).begin(),
                              turns.row(request.position).end());
    explanation.layer = record->site.layer;
    explanation.measures = "share of the turn";
  } else {
    explanation.scores = value_zeroing(*request.subject, stack, request.position);
    explanation.measures = "share of the turns of all layers";
  }
  if (request.kind == SiteKind::kDecoderSelf) {
    explanation.notes = {"of the target alone: what the decoder reads of the source is not in it"};
  }
  return explanation;
}

}  // namespace

Method value_zeroing_method() {
  return {.name = "value-zeroing",
          .summary = "how much each layer's output turns when a position's value is zero",
          .answers =
              "How much does each position shape this one, feed-forward parts and norms included? "
              "It is measured on the model, not read off weights, but of one position in one layer "
              "at a time; over layers the shares are multiplied as in rollout.",
          .cost = "N runs of the model for a layer, L N for all; up to 1,024 positions",
          .needs = {.position = true, .one_stack = true, .subject = true},
          .parameters = {},
          .takes_layer = true,
          .most_positions = kMostValueZeroingPositions,
          .explain = explain_value_zeroing};
}

}  // namespace fovea
