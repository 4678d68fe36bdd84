// One box out of attention against true boxes, by CorLoc.
#include <fmt/format.h>

#include "fovea/base/error.h"
#include "fovea/cli/evaluate/folder.h"
#include "fovea/cli/evaluate/kind.h"
#include "fovea/cli/model_options.h"
#include "fovea/engine/patch_pixels.h"
#include "fovea/figure/object_view.h"
#include "fovea/figure/picture_layers.h"

namespace fovea {
namespace {

constexpr const char* kHits =
    "CorLoc: pictures whose box has an IoU of 0.5 or more with a true one";
constexpr const char* kOverlap = "IoU with the true box that fits best";

std::vector<ScoreRow> score_rows() {
  return {{"lost", "LOST", kHits},
          {"token_cut", "TokenCut", kHits},
          {"mask", "largest part of the mask", kHits},
          {"lost_iou", "LOST", kOverlap},
          {"token_cut_iou", "TokenCut", kOverlap},
          {"mask_iou", "largest part of the mask", kOverlap}};
}

std::vector<double> box_scores(const PictureInput& input, const Run& run,
                               const std::vector<PictureBox>& truth,
                               const EvaluationOptions& options) {
  const MassMasks masks = find_mass_masks(run, options.layer, options.share);
  std::vector<double> hits, overlaps;
  for (const GridBox& box :
       {find_lost(run, options.layer).box, find_token_cut(run, options.layer).box,
        box_of(largest_component(masks.mean))}) {
    BoxScore score;
    score.add(pixel_box(input.grid, box), truth);
    hits.push_back(score.corloc());
    overlaps.push_back(score.mean_iou());
  }
  hits.insert(hits.end(), overlaps.begin(), overlaps.end());
  return hits;
}

void evaluate_boxes(const Args& args) {
  const Engine engine = open_engine(args, kDefaultPictureModel);
  if (engine.facts().finds_objects()) {
    fail(ErrorKind::kUnsupported,
         "{} finds objects itself; evaluate its boxes by `fovea evaluate detections`",
         engine.name());
  }
  const EvaluationOptions options = evaluation_options(args, engine);
  const auto files =
      pictures_with(args["DIR"], "true boxes, NAME.json or NAME.mask.png",
                    [](const TruthFiles& f) { return !f.mask.empty() || !f.objects.empty(); });
  ScoreReport report{.kind = "boxes", .title = "one box against the true ones"};
  report.rows = score_rows();
  std::vector<PictureBox> truth;
  score_pictures(
      args, engine, files, report,
      [&](const TruthFiles& picture, PictureSize size) {
        truth.clear();
        for (const TrueObject& object : read_true_objects(picture, size)) {
          truth.push_back(object.box);
        }
        return static_cast<int64_t>(truth.size());
      },
      [&](const PictureInput& input, const Run& run) {
        return box_scores(input, run, truth, options);
      });
  report.notes.push_back(
      fmt::format("The mask: the fewest patches that hold {:g} % of what [CLS] gives to patches, "
                  "mean of heads.",
                  100 * options.share));
  show_report(report, args);
}

}  // namespace

EvaluationKind boxes_evaluation() {
  return {.name = "boxes",
          .summary = "the box of LOST, TokenCut and of the mask: CorLoc and IoU",
          .options = {"baseline", "seed", "mask", "layer", "size"},
          .run = evaluate_boxes};
}

}  // namespace fovea
