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

// Grades explanations, one input after the other. Work that does not depend on the method is done
// once: an input's runs for random numbers, and the models with random weights.
class ExplanationChecker {
 public:
  // Reads the fields check_by, check_orders, check_steps, check_seed and check_cascade.
  ExplanationChecker(const Question& question, int64_t usual_orders);

  // Grades an explanation. All calls until end_input() must be about one input. Throws
  // Error{kUnsupported} for scores that are not for positions of the input.
  FaithfulnessCard card(const AskedExplanation& asked, const Explanation& explanation);
  void end_input() { judges_.clear(); }
  uint64_t seed() const { return seed_; }

 private:
  // A judge, and what it refers to.
  struct Watched {
    EngineSubject subject;
    NamedTarget target;
    std::optional<NamedTarget> against;
    std::optional<FaithfulnessJudge> judge;
  };
  struct RandomModel {
    std::string weights;  // which of them are random
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
  std::vector<RandomModel> random_;  // the last has all weights random; made on demand
};

}  // namespace fovea
