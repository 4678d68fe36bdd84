// `fovea explain --compare`: every method graded on the same inputs, side by side.
#pragma once

#include <string>
#include <vector>

#include "fovea/base/json.h"
#include "fovea/cli/command.h"
#include "fovea/cli/terminal.h"
#include "fovea/explain/faithfulness/comparison.h"

namespace fovea {

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

// INPUT is one input, a folder of pictures or of .txt files, or a .txt with one text on each line.
// Throws what opening a model and reading throw; what is wrong with single inputs or methods is
// told in the result. Throws Error{kUnsupported} if no method could be graded.
MethodComparison compare_methods(const Args& args);

// A table of at most the terminal's width, and below it which methods cannot.
std::string comparison_text(const MethodComparison& comparison, const Terminal& terminal);
Json comparison_json(const MethodComparison& comparison);
// One line for each method and grade; "random" is a method too.
std::string comparison_csv(const MethodComparison& comparison);

}  // namespace fovea
