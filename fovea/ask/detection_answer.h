// What all kinds of questions about objects in a picture share.
#pragma once

#include <string>
#include <vector>

#include "fovea/ask/answer.h"
#include "fovea/ask/field.h"
#include "fovea/ask/finished_run.h"
#include "fovea/ask/question.h"
#include "fovea/figure/detection_view.h"
#include "fovea/figure/page_options.h"

namespace fovea {

// The objects found, by falling score. Throws as detections() does.
std::vector<DetectedObject> found_objects(const Engine& engine, const RunResult& result,
                                          PictureSize picture, double threshold);

// A picture that a detector has seen, and the objects with a score above a threshold. Refers to the
// run.
class DetectedObjects {
 public:
  // Throws Error{kUnsupported} for a run that came from no picture: it has no boxes, or no picture
  // for them.
  DetectedObjects(const FinishedRun& finished, double threshold);
  DetectedObjects(const FinishedRun& finished, const Question& question);

  const FinishedRun& finished() const { return *finished_; }
  const Engine& engine() const { return finished_->opened->engine; }
  const RunResult& result() const { return finished_->result(); }
  const PictureInput& input() const { return *finished_->opened->picture; }
  PictureSize picture() const { return input().picture.size(); }
  GridShape grid() const { return {input().grid.rows(), input().grid.columns()}; }
  double threshold() const { return threshold_; }
  const std::vector<DetectedObject>& objects() const { return objects_; }
  // Refers to this.
  DetectionScene scene() const {
    return {finished_->run(), input().picture, input().grid, objects_, threshold_};
  }
  // The record of that kind of attention, in the last layer unless one is named.
  RecordPointer record(SiteKind kind, std::optional<int64_t> layer = {}) const;

 private:
  const FinishedRun* finished_;
  double threshold_;
  std::vector<DetectedObject> objects_;
};

// A kind's own fields, followed by "threshold".
std::vector<FieldInfo> detection_fields(std::vector<FieldInfo> own);
double threshold_of(const Question& question);

// Throws Error{kUnsupported} for a model that finds no objects.
void check_finds_objects(const Engine& engine);
// What such runs must hold beside their records.
RunNeeds detection_needs(const Question& question, const OpenedInput& opened);

// The cell that shows a pixel. `field` says where the pixel came from. Throws
// Error{kInvalidArgument} about it for a pixel outside of the picture.
int64_t cell_at(const PictureInput& input, std::string_view field, PictureSpot spot);
// Throws the same for the pixels of "at".
void check_spots(const Question& question, const OpenedInput& opened);

// An answer whose facts hold what was found and how large the picture is. The second form is for
// one attention and adds its place.
Answer detection_answer(Figure figure, const DetectedObjects& found);
Answer detection_answer(Figure figure, const Question& question, const DetectedObjects& found,
                        const RecordPointer& record, const HeadChoice& head);
// An answer that shows rows or columns over the cells.
Answer lines_answer(LineMaps maps, const Question& question, const DetectedObjects& found,
                    const RecordPointer& record, const HeadChoice& head);
// An answer that shows what a cell attends to, or who attends to it.
Answer cell_answer(const Question& question, const DetectedObjects& found, int64_t cell);
// The answer if no object was found: it shows the attention of the cell in the middle.
Answer no_object_answer(const Question& question, const DetectedObjects& found);
// The note that goes with that answer.
std::string no_object_note(const DetectedObjects& found, std::string_view instead);

// Options for a page of that attention. With an index, the page opens at that row or column.
PageOptions detection_page(const Question& question, SiteKind site,
                           std::optional<int64_t> index = {});

}  // namespace fovea
