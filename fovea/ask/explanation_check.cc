#include "fovea/ask/explanation_check.h"

#include <fmt/format.h>

#include "fovea/base/error.h"
#include "fovea/checkpoint/weight_layers.h"

namespace fovea {
namespace {

// A blank where the model knows one: pixels, and texts with a mask token.
Removal suiting(const AskedExplanation& asked, const Axis& axis) {
  const Engine& engine = *asked.engine();
  if (axis.grid_rows > 0 && engine.facts().takes_pixels()) return Removal::kBlank;
  const Tokenizer* tokenizer =
      axis.name == "target" ? engine.find_target_tokenizer() : engine.find_tokenizer();
  const bool masks = tokenizer != nullptr && tokenizer->role("mask_token").has_value() &&
                     !asked.result().inputs.input_ids.empty();
  return masks ? Removal::kBlank : Removal::kHide;
}

std::optional<int64_t> whole_number(const Question& question, std::string_view field) {
  const auto number = question.number(field);
  return number ? std::optional(static_cast<int64_t>(*number)) : std::nullopt;
}

}  // namespace

ExplanationChecker::ExplanationChecker(const Question& question, int64_t usual_orders)
    : orders_(whole_number(question, "check_orders").value_or(usual_orders)),
      steps_(whole_number(question, "check_steps")),
      seed_(static_cast<uint64_t>(whole_number(question, "check_seed").value_or(0))),
      cascade_(question.flag("check_cascade")) {
  if (const auto by = question.word("check_by")) {
    removal_ = *by == "hide" ? Removal::kHide : Removal::kBlank;
  }
}

FaithfulnessJudge& ExplanationChecker::judge_of(const AskedExplanation& asked, const Axis& axis) {
  auto& watched = judges_[fmt::format("{} {}", axis.name, asked.watched->name)];
  if (watched == nullptr) {
    if (const std::string reason = refuses_card(axis); !reason.empty()) {
      fail(ErrorKind::kUnsupported, "{} cannot be checked: {}", asked.method.name, reason);
    }
    watched = std::make_unique<Watched>(
        Watched{subject_of(asked), *asked.watched, asked.watched_against, {}});
  }
  if (!watched->judge) {
    FaithfulnessOptions options{
        .removal = removal_.value_or(suiting(asked, axis)), .orders = orders_, .seed = seed_};
    if (steps_) options.steps = *steps_;
    watched->judge.emplace(
        watched->subject,
        WatchedAnswer{.target = watched->target.target,
                      .against = watched->against ? &watched->against->target : nullptr},
        axis, options);
  }
  return *watched->judge;
}

const std::vector<ExplanationChecker::RandomModel>& ExplanationChecker::random_models(
    const Engine& engine) {
  if (!random_.empty()) return random_;
  if (cascade_) {
    for (const WeightsAbove& part : weights_from_the_top(engine.checkpoint().weights.names())) {
      const auto chosen = [part](std::string_view name) { return part.holds(name); };
      random_.push_back({part.name, engine.with_random_weights(seed_, chosen)});
    }
  }
  random_.push_back({"all", engine.with_random_weights(seed_)});
  return random_;
}

std::vector<RandomizedScores> ExplanationChecker::randomized(const AskedExplanation& asked) {
  std::vector<RandomizedScores> scores;
  for (const RandomModel& model : random_models(*asked.engine())) {
    scores.push_back({model.weights, explained_by(model.engine, asked).scores});
  }
  return scores;
}

FaithfulnessCard ExplanationChecker::card(const AskedExplanation& asked,
                                          const Explanation& explanation) {
  FaithfulnessJudge& judge = judge_of(asked, explanation.axis);
  std::vector<RandomizedScores> others;
  std::string why_not;
  try {
    others = randomized(asked);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kUnsupported) throw;
    why_not = error.what();
  }
  return judge.judge(explanation.scores, others, why_not);
}

}  // namespace fovea
