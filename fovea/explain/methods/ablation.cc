#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "fovea/base/error.h"
#include "fovea/base/progress.h"
#include "fovea/explain/method.h"
#include "fovea/explain/rollout.h"
#include "fovea/explain/target.h"

namespace fovea {

Method ablation_method();

namespace {

// The things that are taken away in turn, and their axis.
struct Cuts {
  Axis axis;
  std::vector<std::vector<Intervention>> changes;  // one run each
};

Cuts cut_positions(const ExplainRequest& request, bool blank) {
  Cuts cuts{.axis = columns_of(request.run, request.kind)};
  for (size_t i = 0; i < cuts.axis.positions.size(); ++i) {
    const auto position = static_cast<int64_t>(i);
    // A special token cannot be blank; its score is 0.
    if (blank && cuts.axis.positions[i].special) {
      cuts.changes.emplace_back();
    } else if (blank) {
      cuts.changes.push_back({BlankPosition{cuts.axis.name, position}});
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
        cuts.changes.push_back({EvenHead{record->site, head}});
      } else {
        cuts.changes.push_back({SilenceHead{record->site, head}});
      }
    }
  }
  return cuts;
}

// Cuts the edges from the asked position to every other, in all layers or in one.
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

// Gives the answer's value, and tells which answer it is.
class Judge {
 public:
  Judge(const ExplainRequest& request, const std::string& measure)
      : request_(request),
        clean_(request.subject->run({}, RecorderOptions::nothing())),
        boxes_(measure == "box"),
        measure_(measure == "logit" ? TargetMeasure::kLogit : TargetMeasure::kProbability) {
    if (boxes_ && !std::holds_alternative<BoxTarget>(*request.target)) {
      fail(ErrorKind::kInvalidArgument,
           "measure of ablation is box but the answer is no object; take probability or logit");
    }
  }

  double lost(const SubjectOutput& output) const {
    if (boxes_) return 1 - box_overlap(std::get<BoxTarget>(*request_.target), clean_, output);
    return value(clean_) - value(output);
  }
  bool changes_answer(const SubjectOutput& output) const {
    return preferred_answer(*request_.target, output) != preferred_answer(*request_.target, clean_);
  }
  std::string measures() const {
    if (boxes_) return "part of the box lost by taking it away";
    const bool similar = std::holds_alternative<SimilarityTarget>(*request_.target);
    return fmt::format("{} lost by taking it away", similar ? "cosine similarity"
                                                    : measure_ == TargetMeasure::kLogit
                                                        ? "logit"
                                                        : "probability");
  }

 private:
  double value(const SubjectOutput& output) const {
    return request_.against != nullptr
               ? contrast_value(*request_.target, *request_.against, output, measure_)
               : target_value(*request_.target, output, measure_, request_.subject->multi_label());
  }

  const ExplainRequest& request_;
  SubjectOutput clean_;
  bool boxes_;
  TargetMeasure measure_;
};

// "without any of these the answer is another one: not, bad"
std::vector<std::string> ablation_notes(const std::vector<std::string>& changing) {
  constexpr size_t kMostNamed = 8;
  if (changing.empty()) return {};
  const auto shown = std::min(changing.size(), kMostNamed);
  return {fmt::format(
      "the model's answer changes without {}{}", fmt::join(std::span(changing).first(shown), ", "),
      shown < changing.size() ? fmt::format(" and {} others", changing.size() - shown) : "")};
}

Explanation explain_ablation(const ExplainRequest& request) {
  const Method method = ablation_method();
  const std::string unit = choice_parameter(method, request, "unit");
  const std::string by = choice_parameter(method, request, "by");
  const bool suits = by == "hide" || (by == "blank" ? unit == "position" : unit == "head");
  if (!suits) {
    fail(ErrorKind::kInvalidArgument, "by of ablation is {} but unit is {}; take hide", by, unit);
  }
  if (request.layer && unit != "edge") {
    fail(ErrorKind::kInvalidArgument, Field{"layer"},
         "{} is given but ablation of a {} goes through all; leave it out, or ablate edges",
         *request.layer, unit);
  }
  const Judge judge(request, choice_parameter(method, request, "measure"));
  const Cuts cuts = unit == "head"   ? cut_heads(request, by == "uniform")
                    : unit == "edge" ? cut_edges(request)
                                     : cut_positions(request, by == "blank");
  Explanation explanation{
      .axis = cuts.axis, .is_signed = true, .measures = judge.measures(), .notes = {}};
  if (unit == "edge" && is_self_attention(request.kind)) explanation.row = request.position;
  std::vector<std::string> changing;
  Progress progress("taking away", static_cast<int64_t>(cuts.changes.size()));
  for (size_t i = 0; i < cuts.changes.size(); ++i) {
    progress.advance();
    if (cuts.changes[i].empty()) {
      explanation.scores.push_back(0);
      continue;
    }
    const SubjectOutput output = request.subject->run(cuts.changes[i], RecorderOptions::nothing());
    explanation.scores.push_back(judge.lost(output));
    if (judge.changes_answer(output)) changing.push_back(cuts.axis.positions[i].text);
  }
  explanation.notes = ablation_notes(changing);
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
            .help = "of the answer; box: how far an object's box moves, 1 - IoU",
            .otherwise = "probability",
            .choices = {"probability", "logit", "box"}}},
      .takes_layer = true,
      .explain = explain_ablation};
}

}  // namespace fovea
