// Cards of many inputs as one, and how far that can be believed.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

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

}  // namespace fovea
