#include <fmt/format.h>

#include "fovea/base/progress.h"
#include "fovea/explain/method.h"
#include "fovea/explain/rollout.h"
#include "fovea/explain/target.h"

namespace fovea {

Method ablation_method();

namespace {

// What is taken away in turn, and the axis of those things.
struct Cuts {
  Axis axis;
  std::vector<std::vector<Intervention>> changes;  // one run each
};

Cuts cut_positions(const ExplainRequest& request, bool blank) {
  Cuts cuts{.axis = columns_of(request.run, request.kind)};
  for (size_t i = 0; i < cuts.axis.positions.size(); ++i) {
    const auto position = static_cast<int64_t>(i);
    // Special tokens are no part of the input that could be blank; their score is 0.
    if (blank && cuts.axis.positions[i].special) {
      cuts.changes.emplace_back();
    } else if (blank) {
      cuts.changes.push_back({ReplaceInput{cuts.axis.name, position}});
    } else {
      cuts.changes.push_back({HidePosition{cuts.axis.name, position}});
    }
  }
  return cuts;
}

Cuts cut_heads(const ExplainRequest& request, bool even) {
  const LayerRecords layers = layers_of(request.run, request.kind);
  Cuts cuts{.axis = heads_axis(layers)};
  for (const auto& record : layers) {
    for (int64_t head = 0; head < record->shape().heads; ++head) {
      if (even) {
        cuts.changes.push_back({UniformHead{record->site, head}});
      } else {
        cuts.changes.push_back({ZeroHead{record->site, head}});
      }
    }
  }
  return cuts;
}

// From the asked position to every other, in all layers or in one.
Cuts cut_edges(const ExplainRequest& request) {
  Cuts cuts{.axis = columns_of(request.run, request.kind)};
  for (size_t col = 0; col < cuts.axis.positions.size(); ++col) {
    std::vector<Intervention> changes;
    for (const auto& record : request.run.records) {
      if (record->site.kind != request.kind) continue;
      if (request.layer && record->site.layer != *request.layer) continue;
      changes.push_back(HideEdge{record->site, request.position, static_cast<int64_t>(col)});
    }
    cuts.changes.push_back(std::move(changes));
  }
  return cuts;
}

Explanation explain_ablation(const ExplainRequest& request) {
  const Method method = ablation_method();
  const std::string unit = choice_parameter(method, request, "unit");
  const std::string by = choice_parameter(method, request, "by");
  const TargetMeasure measure = choice_parameter(method, request, "measure") == "logit"
                                    ? TargetMeasure::kLogit
                                    : TargetMeasure::kProbability;
  const auto value = [&](const SubjectOutput& output) {
    return request.against != nullptr
               ? contrast_value(*request.target, *request.against, output, measure)
               : target_value(*request.target, output, measure, request.subject->multi_label());
  };
  const Cuts cuts = unit == "head"   ? cut_heads(request, by == "uniform")
                    : unit == "edge" ? cut_edges(request)
                                     : cut_positions(request, by == "blank");
  const RecorderOptions nothing = RecorderOptions::nothing();
  const double clean = value(request.subject->run({}, nothing, request.cancel));
  Explanation explanation{.axis = cuts.axis, .is_signed = true};
  const bool similar = std::holds_alternative<SimilarityTarget>(*request.target);
  explanation.measures =
      fmt::format("{} lost by taking it away", similar ? "cosine similarity"
                                               : measure == TargetMeasure::kLogit ? "logit"
                                                                                  : "probability");
  Progress progress("taking away", static_cast<int64_t>(cuts.changes.size()));
  for (const std::vector<Intervention>& changes : cuts.changes) {
    explanation.scores.push_back(
        changes.empty() ? 0
                        : clean - value(request.subject->run(changes, nothing, request.cancel)));
    progress.advance();
  }
  return explanation;
}

}  // namespace

Method ablation_method() {
  return {
      .name = "ablation",
      .summary = "take a token, patch, head or edge away and see what the answer loses",
      .answers =
          "What would the model say without it? This is a cause, not a correlation, but of one "
          "thing at a time: two tokens that say the same can each be missed without a loss.",
      .cost = "one run of the model for each thing taken away",
      .needs = {.subject = true, .target = true},
      .parameters =
          {{.name = "unit",
            .help = "what is taken away",
            .otherwise = "position",
            .choices = {"position", "head", "edge"}},
           {.name = "by",
            .help = "hide: nobody may attend to it; blank: mask token or mean colour in its place; "
                    "uniform: a head attends evenly instead of giving 0",
            .otherwise = "hide",
            .choices = {"hide", "blank", "uniform"}},
           {.name = "measure",
            .help = "of the answer",
            .otherwise = "probability",
            .choices = {"probability", "logit"}}},
      .refuses = lacks_maps,
      .explain = explain_ablation};
}

}  // namespace fovea
