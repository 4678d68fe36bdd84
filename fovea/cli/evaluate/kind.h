// What `fovea evaluate` scores: each kind in a file of its own.
#pragma once

#include <string>
#include <vector>

#include "fovea/cli/command.h"

namespace fovea {

struct EvaluationKind {
  std::string name;                  // "masks"
  std::string summary;               // for the help
  std::vector<std::string> options;  // that only some kinds take: "baseline", ...
  void (*run)(const Args& args);     // on DIR; prints by --json and writes --out
};

std::vector<EvaluationKind> evaluation_kinds();

EvaluationKind masks_evaluation();  // objects from attention: how much of the true ones they cover
EvaluationKind boxes_evaluation();  // the same: whether one box hits a true one
EvaluationKind detections_evaluation();  // boxes of a detector

}  // namespace fovea
