// One box out of attention against true boxes, by CorLoc.
#include <fmt/format.h>

#include "fovea/ask/many/picture_scores.h"
#include "fovea/ask/picture_answer.h"
#include "fovea/base/error.h"
#include "fovea/engine/patch_pixels.h"
#include "fovea/explain/pictures/mass_mask.h"
#include "fovea/figure/object_view.h"
#include "fovea/figure/picture_layers.h"

namespace fovea {
namespace {

constexpr const char* kHits =
    "CorLoc: pictures whose box has an IoU of 0.5 or more with a true one";
constexpr const char* kOverlap = "IoU with the true box that fits best";

std::vector<ScoreRow> box_rows() {
  return {{"lost", "LOST", kHits},
          {"token_cut", "TokenCut", kHits},
          {"mask", "largest part of the mask", kHits},
          {"lost_iou", "LOST", kOverlap},
          {"token_cut_iou", "TokenCut", kOverlap},
          {"mask_iou", "largest part of the mask", kOverlap}};
}

std::vector<double> box_scores(const PictureInput& input, const Run& run, const Truth& known,
                               std::optional<int64_t> layer, double share) {
  std::vector<PictureBox> truth;
  for (const TrueObject& object : true_objects(known, input.picture.size())) {
    truth.push_back(object.box);
  }
  const MassMasks masks = find_mass_masks(run, layer, share);
  std::vector<double> hits, overlaps;
  for (const GridBox& box : {find_lost(run, layer).box, find_token_cut(run, layer).box,
                             box_of(largest_component(masks.mean))}) {
    BoxScore score;
    score.add(pixel_box(input.grid, box), truth);
    hits.push_back(score.corloc());
    overlaps.push_back(score.mean_iou());
  }
  hits.insert(hits.end(), overlaps.begin(), overlaps.end());
  return hits;
}

double share_of_boxes(const Question& question) {
  return question.number("mask").value_or(kMassShare);
}

void check_boxes(const Engine& engine) {
  check_sees_pictures(engine);
  if (!engine.facts().finds_objects()) return;
  fail(ErrorKind::kUnsupported, "{} finds objects itself; evaluate its detections instead",
       engine.name());
}

std::unique_ptr<Counter> count_boxes(const ManyAsked& asked) {
  return picture_score_counter(
      asked,
      {.objects = [](const Truth& truth,
                     PictureSize size) { return std::ssize(true_objects(truth, size)); },
       .scores = [layer = asked.question.place.layer, share = share_of_boxes(asked.question)](
                     const PictureInput& input, const Run& run,
                     const Truth& truth) { return box_scores(input, run, truth, layer, share); }});
}

Answer finish_boxes(const ManyAsked& asked, const ManyState& state) {
  ScoreReport report = report_of(asked, state);
  report.kind = "boxes";
  report.title = "one box against the true ones";
  report.rows = box_rows();
  report.notes.push_back(
      fmt::format("The mask: the fewest patches that hold {:g} % of what [CLS] gives to patches, "
                  "mean of heads.",
                  100 * share_of_boxes(asked.question)));
  return scores_answer(report);
}

}  // namespace

QuestionKind evaluate_boxes_question() {
  FieldInfo mask = mask_field();
  mask.otherwise = fmt::format("{}", kMassShare);
  std::vector<FieldInfo> fields = baseline_fields();
  fields.insert(fields.begin(), {layer_field(), mask});
  return {.name = "evaluate_boxes",
          .view = "boxes",
          .summary = "the box of LOST, TokenCut and of the mask: CorLoc and IoU",
          .fields = std::move(fields),
          .verbs = {"evaluate"},
          .has_maps = false,
          .has_page = false,
          .check = check_boxes,
          .counter = count_boxes,
          .finish = finish_boxes,
          .doing = "evaluating"};
}

}  // namespace fovea
