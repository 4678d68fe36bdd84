#include <fmt/format.h>

#include <numeric>

#include "fovea/explain/alti.h"
#include "fovea/explain/method.h"

namespace fovea {

Method alti_plus_method();

namespace {

std::string refuses(const Run& run) {
  bool cross = false;
  for (const auto& record : run.records) cross = cross || record->site.kind == SiteKind::kCross;
  return cross ? "" : "it has no cross-attention from a target to a source";
}

Explanation explain_alti_plus(const ExplainRequest& request) {
  const AltiDistance distance =
      kAltiDistances.named(choice_parameter(alti_plus_method(), request, "distance"));
  const SourceAndTarget shares =
      alti_plus({.encoder = layers_of(request.run, SiteKind::kEncoderSelf),
                 .decoder_self = layers_of(request.run, SiteKind::kDecoderSelf),
                 .cross = layers_of(request.run, SiteKind::kCross)},
                request.position, distance);
  const double source = std::accumulate(shares.source.begin(), shares.source.end(), 0.0);
  return {.axis = columns_of(request.run, SiteKind::kEncoderSelf),
          .scores = shares.source,
          .target_axis = columns_of(request.run, SiteKind::kDecoderSelf),
          .target_scores = shares.target,
          .measures = "share by ALTI+",
          .notes = {fmt::format("{:.1f} % from the source, {:.1f} % from the target so far",
                                100 * source, 100 * (1 - source))}};
}

}  // namespace

Method alti_plus_method() {
  return {.name = "alti+",
          .summary = "shares of the source and of the target so far in one step of a decoder",
          .answers =
              "Does the decoder write this from the source or from what it has written? Little "
              "source is a sign of invented text. As alti, it knows no feed-forward parts and not "
              "what the state is used for.",
          .cost = "as alti, for the encoder and both attentions of the decoder",
          .needs = {.position = true, .block = true},
          .parameters = {{.name = "distance",
                          .help = "how near vectors are to the block's output: l1 is the paper's",
                          .otherwise = "l1",
                          .choices = kAltiDistances.names()}},
          .most_positions = kMostAltiPositions,
          .refuses = refuses,
          .explain = explain_alti_plus};
}

}  // namespace fovea
