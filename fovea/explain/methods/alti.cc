#include "fovea/explain/alti.h"

#include "fovea/base/error.h"
#include "fovea/explain/method.h"

namespace fovea {

Method alti_method();

namespace {

Explanation explain_alti(const ExplainRequest& request) {
  if (request.kind == SiteKind::kCross || request.kind == SiteKind::kDecoderSelf) {
    fail(ErrorKind::kUnsupported,
         "alti follows one stack of self-attention, but a decoder layer also reads the source; use "
         "alti+");
  }
  const LayerRecords layers = layers_of(request.run, request.kind);
  const AltiDistance distance =
      kAltiDistances.named(choice_parameter(alti_method(), request, "distance"));
  return {.axis = columns_of(request.run, request.kind),
          .scores = alti(layers, request.position, distance),
          .measures = "share by ALTI",
          .notes = {}};
}

}  // namespace

Method alti_method() {
  return {.name = "alti",
          .summary = "shares of the input through all layers, by the vectors that attention brings",
          .answers =
              "How much of each input position is in this one after all layers? Like rollout, but "
              "values, residuals and norms count. Feed-forward parts do not, and neither does what "
              "the output is used for.",
          .cost = "L N^2 H d for L layers, N positions, H heads and width d; up to 1,024 positions",
          .needs = {.position = true, .one_stack = true, .block = true},
          .parameters = {{.name = "distance",
                          .help = "how near vectors are to the block's output: l1 is the paper's",
                          .otherwise = "l1",
                          .choices = kAltiDistances.names()}},
          .most_positions = kMostAltiPositions,
          .explain = explain_alti};
}

}  // namespace fovea
