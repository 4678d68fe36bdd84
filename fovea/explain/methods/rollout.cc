#include "fovea/explain/rollout.h"

#include "fovea/base/error.h"
#include "fovea/explain/method.h"

namespace fovea {

Method rollout_method();

namespace {

Explanation explain_rollout(const ExplainRequest& request) {
  const Method method = rollout_method();
  const LayerRecords layers = layers_of(request.run, request.kind);
  const HeadFusion fusion = kHeadFusions.named(choice_parameter(method, request, "fusion"));
  const double discard = number_parameter(method, request, "discard");
  Explanation explanation{.axis = columns_of(request.run, request.kind),
                          .measures = "rolled-out attention"};
  if (choice_parameter(method, request, "compat") == "vit-explain") {
    for (const char* name : {"residual", "start-layer"}) {
      if (!request.parameters.contains(name)) continue;
      fail(ErrorKind::kInvalidArgument,
           "{} of rollout is given but compat is vit-explain, which has none; leave one out", name);
    }
    VitExplainOptions options;
    if (request.parameters.contains("fusion")) options.fusion = fusion;
    if (request.parameters.contains("discard")) options.discard = discard;
    explanation.scores = vit_explain_rollout(layers, request.position, options);
    explanation.notes = {"as vit-explain computes it, mistakes included; a row need not sum to 1"};
    return explanation;
  }
  const int64_t start_layer = whole_parameter(method, request, "start-layer");
  if (start_layer >= static_cast<int64_t>(layers.size())) {
    fail(ErrorKind::kInvalidArgument,
         "start-layer of rollout is {} but the layers are 0 to {}; choose one of these",
         start_layer, layers.size() - 1);
  }
  const RolloutOptions options{.residual = number_parameter(method, request, "residual"),
                               .start_layer = start_layer,
                               .fusion = fusion,
                               .discard = discard};
  explanation.scores = rollout(layers, request.position, options);
  if (layers.front()->rule.mask.ahead == 0) {
    explanation.notes = {
        "in a causal model rollout drifts to the first token, whatever the text says"};
  }
  return explanation;
}

}  // namespace

Method rollout_method() {
  return {
      .name = "rollout",
      .summary = "attention through all layers, residual connections counted in",
      .answers =
          "How much of each input position can have reached this one through all layers, if every "
          "layer mixed by its mean attention? It knows no values, norms or feed-forward parts, and "
          "flattens with depth.",
      .cost = "L N^2 d, memory N d",
      .needs = {.position = true, .one_stack = true},
      .parameters = {{.name = "residual",
                      .help = "share that a position keeps of itself",
                      .otherwise = "0.5"},
                     {.name = "start-layer",
                      .help = "leave out the layers before this one",
                      .otherwise = "0",
                      .least = 0,
                      .most = 4095},
                     {.name = "fusion",
                      .help = "how heads become one map",
                      .otherwise = "mean",
                      .choices = kHeadFusions.names()},
                     {.name = "discard",
                      .help = "share of the smallest weights set to 0 first",
                      .otherwise = "0",
                      .most = 0.999999},
                     {.name = "compat",
                      .help = "compute it as another program does, mistake for mistake",
                      .otherwise = "none",
                      .choices = {"none", "vit-explain"}}},
      .explain = explain_rollout};
}

}  // namespace fovea
