// --check: how far an explanation can be believed, measured on the model itself.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fovea/cli/explain/question.h"
#include "fovea/explain/faithfulness/faithfulness.h"

namespace fovea {

// Random orders of one input, and of each of many.
inline constexpr int64_t kOrdersOfOne = 32;
inline constexpr int64_t kOrdersOfEach = 8;

// --check, --compare and what belongs to them.
std::vector<Option> check_options();
// Contradictions among them. Throws Error{kInvalidArgument}.
void check_check_args(const Args& args);

// Grades explanations, input after input. What does not depend on the method is done once: the runs
// for random numbers of an input, and the model with random weights.
class Checker {
 public:
  Checker(const Args& args, int64_t default_orders) : args_(args), orders_(default_orders) {}

  // Of the input that the last ones were of. Throws Error{kUnsupported} for scores that are not of
  // positions of the input.
  FaithfulnessCard card(const ExplainQuestion& question, const Explanation& explanation);
  void end_input() { judges_.clear(); }

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
  FaithfulnessJudge& judge_of(const ExplainQuestion& question, const Axis& axis);
  std::vector<RandomizedScores> randomized(const ExplainQuestion& question);
  const std::vector<RandomModel>& random_models(const ExplainQuestion& question);

  const Args& args_;
  int64_t orders_;
  std::map<std::string, std::unique_ptr<Watched>> judges_;  // by axis and answer
  std::vector<RandomModel> random_;  // the last with all weights random; made when asked for
};

}  // namespace fovea
