#include "fovea/cli/explain/check.h"

#include <fmt/format.h>

#include "fovea/base/error.h"
#include "fovea/checkpoint/weight_layers.h"
#include "fovea/cli/map_options.h"
#include "fovea/render/figure_file.h"

namespace fovea {
namespace {

constexpr const char* kCheckDetails[] = {"check-by", "check-orders", "check-steps", "check-seed",
                                         "check-cascade"};

// A blank where the model knows one: pixels, and texts with a mask token.
Removal suiting(const ExplainQuestion& question, const Axis& axis) {
  const Engine& engine = *question.engine;
  if (axis.grid_rows > 0 && engine.facts().takes_pixels()) return Removal::kBlank;
  const Tokenizer* tokenizer =
      axis.name == "target" ? engine.find_target_tokenizer() : engine.find_tokenizer();
  const bool masks = tokenizer != nullptr && tokenizer->role("mask_token").has_value() &&
                     !question.result.inputs.input_ids.empty();
  return masks ? Removal::kBlank : Removal::kHide;
}

}  // namespace

std::vector<Option> check_options() {
  return {
      Option::flag("check",
                   "grade the explanation: take positions away in its order, and compare with "
                   "random orders, the gradient and random weights (about 720 runs of the model)"),
      Option::flag(
          "compare",
          "instead of a map, grade all methods, or those that --method lists, side by "
          "side; INPUT may be a folder of pictures or of .txt files, or a .txt with one text per "
          "line"),
      Option::choice("check-by", {"blank", "hide"},
                     "how positions are taken away: mask token or mean colour in their place, or "
                     "hidden from attention (default: blank where the model knows one)"),
      Option::integer("check-orders", "N",
                      fmt::format("random orders to compare with (default: {}, of many inputs {} "
                                  "each)",
                                  kOrdersOfOne, kOrdersOfEach),
                      2),
      Option::integer("check-steps", "N", "points of a curve (default: 20)", 1),
      Option::integer("check-seed", "N", "of random orders and weights (default: 0)", 0),
      Option::flag("check-cascade",
                   "randomise weights from the last layer down, one layer more each time, not only "
                   "all at once"),
      Option::text("check-out", "FILE",
                   "draw the curves of deletion and insertion: .png .svg .pdf"),
      Option::integer("limit", "N", "of --compare, only the first N inputs", 1)};
}

void check_check_args(const Args& args) {
  const bool check = args.flag("check"), compare = args.flag("compare");
  if (check && compare) {
    fail(ErrorKind::kInvalidArgument, "--compare checks every method already; leave out --check");
  }
  for (const char* name : kCheckDetails) {
    if (args.has(name) && !check && !compare) {
      fail(ErrorKind::kInvalidArgument, "--{} is given but nothing is checked; give --check too",
           name);
    }
  }
  if (compare && args.flag("check-cascade")) {
    fail(ErrorKind::kInvalidArgument,
         "--check-cascade shows one method layer by layer but --compare gives one number of each; "
         "leave it out, or give --check with one method");
  }
  if (args.has("colors") && compare) {
    fail(ErrorKind::kInvalidArgument,
         "--colors is {} but --compare makes a table, which has no colours; leave it out",
         args["colors"]);
  }
  if (args.has("limit") && !compare) {
    fail(ErrorKind::kInvalidArgument,
         "--limit is of many inputs but one is explained; give --compare too");
  }
  if (!args.has("check-out")) return;
  if (!check) {
    fail(ErrorKind::kInvalidArgument, "--check-out draws what is checked; give --check too");
  }
  figure_format(args["check-out"]);
}

FaithfulnessJudge& Checker::judge_of(const ExplainQuestion& question, const Axis& axis) {
  auto& watched = judges_[fmt::format("{} {}", axis.name, question.watched->name)];
  if (watched == nullptr) {
    if (const std::string reason = refuses_card(axis); !reason.empty()) {
      fail(ErrorKind::kUnsupported, "{} cannot be checked: {}", question.method.name, reason);
    }
    watched = std::make_unique<Watched>(
        Watched{subject_of(question), *question.watched, question.watched_against, {}});
  }
  if (!watched->judge) {
    FaithfulnessOptions options{.removal = suiting(question, axis), .orders = orders_};
    if (args_.has("check-by")) {
      options.removal = args_["check-by"] == "hide" ? Removal::kHide : Removal::kBlank;
    }
    if (args_.has("check-orders")) options.orders = args_.integer("check-orders");
    if (args_.has("check-steps")) options.steps = args_.integer("check-steps");
    if (args_.has("check-seed")) options.seed = static_cast<uint64_t>(args_.integer("check-seed"));
    watched->judge.emplace(
        watched->subject,
        WatchedAnswer{.target = watched->target.target,
                      .against = watched->against ? &watched->against->target : nullptr},
        axis, options);
  }
  return *watched->judge;
}

const std::vector<Checker::RandomModel>& Checker::random_models(const ExplainQuestion& question) {
  if (!random_.empty()) return random_;
  const auto seed =
      static_cast<uint64_t>(args_.has("check-seed") ? args_.integer("check-seed") : 0);
  if (args_.flag("check-cascade")) {
    for (const WeightsAbove& part :
         weights_from_the_top(question.engine->checkpoint().weights.names())) {
      const auto chosen = [part](std::string_view name) { return part.holds(name); };
      random_.push_back({part.name, question.engine->with_random_weights(seed, chosen)});
    }
  }
  random_.push_back({"all", question.engine->with_random_weights(seed)});
  return random_;
}

std::vector<RandomizedScores> Checker::randomized(const ExplainQuestion& question) {
  std::vector<RandomizedScores> scores;
  for (const RandomModel& model : random_models(question)) {
    scores.push_back({model.weights, answer_of(model.engine, question).scores});
  }
  return scores;
}

FaithfulnessCard Checker::card(const ExplainQuestion& question, const Explanation& explanation) {
  FaithfulnessJudge& judge = judge_of(question, explanation.axis);
  std::vector<RandomizedScores> others;
  std::string why_not;
  try {
    others = randomized(question);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kUnsupported) throw;
    why_not = told(error, args_);
  }
  return judge.judge(explanation.scores, others, why_not);
}

}  // namespace fovea
