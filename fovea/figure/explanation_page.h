// What a saved page of one explanation says.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fovea/figure/figure.h"

namespace fovea {

// Of each position of an axis a number, or of each head: "heads" has a grid of layers and heads.
struct AxisScores {
  Axis axis;
  std::vector<double> scores;
};

// A line of the faithfulness card.
struct PageGrade {
  std::string name;     // "deletion"
  std::string says;     // in one line
  std::string good;     // what a good explanation has: "low"
  std::string missing;  // why there is no number; empty: there is one
  double value = 0;
  double random = 0;  // what random numbers get, and their range
  double random_low = 0;
  double random_high = 0;
  std::string verdict;  // "better"
};

struct ExplanationPage {
  Figure figure;
  std::string method;   // its name
  std::string answers;  // what it answers, and when it misleads
  std::string model_hash;
  std::vector<AxisScores> scores;  // of the input, then of what a decoder has read so far
  std::optional<int64_t> row;      // the position asked from
  std::string facts;               // all of the answer as JSON
  // Of a checked explanation.
  std::vector<PageGrade> grades = {};
  std::optional<CurvesFigure> curves = {};
};

}  // namespace fovea
