#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/explain/alti.h"
#include "fovea/explain/method.h"

namespace fovea {

Method alti_plus_method();

namespace {

std::string refuses(const Run& run) {
  bool cross = false;
  for (const auto& record : run.records) cross = cross || record->site.kind == SiteKind::kCross;
  return cross ? lacks_blocks(run) : "it has no cross-attention from a target to a source";
}

// The source's positions and behind them the target's, each with its place in both texts.
Axis joined(const Axis& source, const Axis& target) {
  Axis axis{.name = "source and target", .source = source.source + "\n" + target.source};
  axis.positions = source.positions;
  const auto shift = static_cast<int64_t>(source.source.size()) + 1;
  int64_t words = 0;
  for (const Position& position : source.positions) words = std::max(words, position.word + 1);
  for (Position position : target.positions) {
    position.source_begin += shift;
    position.source_end += shift;
    if (position.word >= 0) position.word += words;
    axis.positions.push_back(std::move(position));
  }
  return axis;
}

Explanation explain_alti_plus(const ExplainRequest& request) {
  const AltiDistance distance = choice_parameter(alti_plus_method(), request, "distance") == "l1"
                                    ? AltiDistance::kL1
                                    : AltiDistance::kL2;
  const SourceAndTarget shares =
      alti_plus({.encoder = layers_of(request.run, SiteKind::kEncoderSelf),
                 .decoder_self = layers_of(request.run, SiteKind::kDecoderSelf),
                 .cross = layers_of(request.run, SiteKind::kCross)},
                request.position, distance, request.cancel);
  Explanation explanation{.axis = joined(columns_of(request.run, SiteKind::kEncoderSelf),
                                         columns_of(request.run, SiteKind::kDecoderSelf)),
                          .scores = shares.source,
                          .measures = "share by ALTI+"};
  const double source = std::accumulate(shares.source.begin(), shares.source.end(), 0.0);
  explanation.scores.insert(explanation.scores.end(), shares.target.begin(), shares.target.end());
  explanation.notes = {fmt::format("{:.1f} % from the source, {:.1f} % from the target so far",
                                   100 * source, 100 * (1 - source))};
  return explanation;
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
          .needs = {.values = true, .block = true},
          .parameters = {{.name = "distance",
                          .help = "how near vectors are to the block's output: l1 is the paper's",
                          .otherwise = "l1",
                          .choices = {"l1", "l2"}}},
          .refuses = refuses,
          .explain = explain_alti_plus};
}

}  // namespace fovea
