// Cards of many inputs as one, and how far that can be believed; cards of many methods.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fovea/explain/faithfulness/faithfulness.h"

namespace fovea {

struct MeanGrade {
  Interval value;   // over the inputs that have one; of one input the value itself
  Interval random;  // of random numbers; of one input the spread of its random orders
  Verdict verdict = Verdict::kNone;
  int64_t inputs = 0;
  std::string missing;  // why no input has one
};
using MeanCard = std::array<MeanGrade, kGradeKinds>;

// Intervals are of a bootstrap over inputs. A method is better or worse than random where its
// advantage, taken input by input, has a sign in 95 % of the resamples. One card is judged by its
// own random orders.
MeanCard mean_card(std::span<const FaithfulnessCard> cards, int64_t resamples, uint64_t seed);

struct ComparedMethod {
  std::string name;
  std::vector<FaithfulnessCard> cards;  // one for each input that it was graded on
  MeanCard mean;
  std::string reason;  // why it was not on all
};

struct MethodComparison {
  std::string model;
  std::string model_hash;
  std::string input;    // as the user gave it
  std::string answer;   // that was watched; of one input
  std::string removal;  // what took the place of positions
  int64_t inputs = 0;   // that at least one method was graded on
  int64_t left_out = 0;
  std::string first_reason;  // of those left out
  FaithfulnessOptions options;
  std::vector<ComparedMethod> methods;
  std::array<Interval, kGradeKinds> random;  // what random numbers get
};

}  // namespace fovea
