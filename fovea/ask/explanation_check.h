// How far an explanation can be believed, measured on the model itself.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fovea/ask/explanation.h"
#include "fovea/explain/faithfulness/faithfulness.h"

namespace fovea {

// Grades explanations, input after input. What does not depend on the method is done once: the runs
// for random numbers of an input, and the model with random weights.
class ExplanationChecker {
 public:
  // What the fields check_by, check_orders, check_steps, check_seed and check_cascade say.
  ExplanationChecker(const Question& question, int64_t usual_orders);

  // Of the input that the last ones were of. Throws Error{kUnsupported} for scores that are not of
  // positions of the input.
  FaithfulnessCard card(const AskedExplanation& asked, const Explanation& explanation);
  void end_input() { judges_.clear(); }
  uint64_t seed() const { return seed_; }

 private:
  // What a judge refers to, and the judge.
  struct Watched {
    EngineSubject subject;
    NamedTarget target;
    std::optional<NamedTarget> against;
    std::optional<FaithfulnessJudge> judge;
  };
  struct RandomModel {
    std::string weights;  // which are random
    Engine engine;
  };
  FaithfulnessJudge& judge_of(const AskedExplanation& asked, const Axis& axis);
  std::vector<RandomizedScores> randomized(const AskedExplanation& asked);
  const std::vector<RandomModel>& random_models(const Engine& engine);

  std::optional<Removal> removal_;  // none: what suits the model
  int64_t orders_;
  std::optional<int64_t> steps_;
  uint64_t seed_ = 0;
  bool cascade_;
  std::map<std::string, std::unique_ptr<Watched>> judges_;  // by axis and answer
  std::vector<RandomModel> random_;  // the last with all weights random; made when asked for
};

}  // namespace fovea
