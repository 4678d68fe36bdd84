#include "fovea/cli/evaluate/kind.h"

namespace fovea {

std::vector<EvaluationKind> evaluation_kinds() {
  return {masks_evaluation(), boxes_evaluation(), detections_evaluation()};
}

}  // namespace fovea
