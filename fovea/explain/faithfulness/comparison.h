// Puts the cards of many inputs together into one, with intervals, and compares the cards of many
// methods.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fovea/explain/faithfulness/faithfulness.h"

namespace fovea {

struct MeanGrade {
  Interval value;   // over the inputs that have one; a single value for one input
  Interval random;  // what random numbers get; for one input, over its orders
  Verdict verdict = Verdict::kNone;
  int64_t inputs = 0;
  std::string missing;  // why no input has one
};
using MeanCard = std::array<MeanGrade, kGradeKinds>;

// Intervals come from a bootstrap over inputs. A method is better or worse than random if its
// advantage, taken input by input, has the same sign in 95 % of the resamples. A single card is
// judged by its own random orders.
MeanCard mean_card(std::span<const FaithfulnessCard> cards, int64_t resamples, uint64_t seed);

struct ComparedMethod {
  std::string name;
  std::vector<FaithfulnessCard> cards;  // one for each input that it was graded on
  MeanCard mean;
  std::string reason;  // why some inputs have none
};

struct MethodComparison {
  std::string model;    // its name
  std::string answer;   // the watched answer; only for one input
  std::string removal;  // what took the place of positions
  int64_t inputs = 0;   // graded by at least one method
  FaithfulnessOptions options;
  std::vector<ComparedMethod> methods;
  std::array<Interval, kGradeKinds> random;  // what random numbers get
};

}  // namespace fovea
