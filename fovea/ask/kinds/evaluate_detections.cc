// Boxes of a detector against true boxes: COCO's average precision.
#include "fovea/ask/detection_answer.h"
#include "fovea/ask/many/detection_scores.h"
#include "fovea/ask/many/picture_scores.h"
#include "fovea/ask/question_kind.h"

namespace fovea {

QuestionKind evaluate_detections_question() {
  return {.name = "evaluate_detections",
          .view = "detections",
          .summary = "boxes of a detector: COCO's average precision and recall",
          .fields = detection_fields(baseline_fields()),
          .verbs = {"evaluate"},
          .has_maps = false,
          .has_page = false,
          .check = check_finds_objects,
          .counter = detection_counter,
          .finish = detection_scores_answer,
          .doing = "evaluating"};
}

}  // namespace fovea
