// Masks out of attention against true masks, by the Jaccard index.
#include <fmt/format.h>

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/cli/evaluate/folder.h"
#include "fovea/cli/evaluate/kind.h"
#include "fovea/cli/evaluate/objects.h"
#include "fovea/cli/model_options.h"
#include "fovea/engine/patch_pixels.h"
#include "fovea/figure/object_view.h"
#include "fovea/figure/picture_layers.h"

namespace fovea {
namespace {

using Jaccards = std::array<double, 256>;  // with each object; entry 0 with all together

constexpr const char* kEach = "each true object by itself";
constexpr const char* kAll = "all objects of a picture together";

std::vector<ScoreRow> rows_for(size_t heads) {
  std::vector<ScoreRow> rows{
      {"best_head_per_object", "best head for each, knowing the truth", kEach},
      {"mean_of_heads", "mean of heads", kAll},
      {"lost", "LOST", kAll},
      {"token_cut", "TokenCut", kAll},
      {"best_head_per_picture", "best head for each, knowing the truth", kAll}};
  for (size_t head = 0; head < heads; ++head) {
    rows.push_back({fmt::format("head_{}", head), fmt::format("head {}", head), kAll});
  }
  return rows;
}

// DINO's protocol: of every object the head that fits it best, then the mean over objects.
double best_per_object(const std::vector<Jaccards>& heads, const std::vector<uint8_t>& objects) {
  std::vector<double> best;
  for (const uint8_t object : objects) {
    best.push_back(
        std::ranges::max(heads, {}, [&](const Jaccards& j) { return j[object]; })[object]);
  }
  MaskScore score;
  score.add(best);
  return score.mean();
}

std::vector<double> mask_scores(const PictureInput& input, const Run& run, const LabelMask& truth,
                                const EvaluationOptions& options) {
  const auto compare = [&](const GridMask& mask) {
    return jaccard_of_objects(pixel_mask(input.grid, mask).labels, truth.labels);
  };
  const MassMasks masks = find_mass_masks(run, options.layer, options.share);
  std::vector<Jaccards> heads;
  for (const GridMask& mask : masks.heads) heads.push_back(compare(mask));
  const auto with_all = [](const Jaccards& jaccards) { return jaccards[0]; };
  std::vector<double> scores{best_per_object(heads, truth.objects()), with_all(compare(masks.mean)),
                             with_all(compare(find_lost(run, options.layer).mask)),
                             with_all(compare(find_token_cut(run, options.layer).mask)),
                             with_all(std::ranges::max(heads, {}, with_all))};
  std::ranges::transform(heads, std::back_inserter(scores), with_all);
  return scores;
}

// Which head is best can be known for a folder only: it is one head for all pictures.
void add_best_head(ScoreReport& report) {
  const auto first = static_cast<size_t>(std::ranges::find(report.rows, "head_0", &ScoreRow::key) -
                                         report.rows.begin());
  std::string which;
  for (size_t model = 0; model < report.columns.size(); ++model) {
    size_t best = first;
    for (size_t row = first; row < report.rows.size(); ++row) {
      if (report.mean(model, row) > report.mean(model, best)) best = row;
    }
    which +=
        fmt::format("{}{}{}", model == 0 ? "" : ", ",
                    model == 0 ? "" : "of " + report.columns[model] + " ", report.rows[best].label);
    for (ScoreReport::Picture& picture : report.pictures) {
      picture.scores[model].push_back(picture.scores[model][best]);
    }
  }
  report.rows.push_back({"best_head", "best single head", kAll});
  report.notes.push_back(fmt::format("The best single head of this folder is {}.", which));
}

// Options that only detectors take, or only others.
void refuse_options(const Args& args, const Engine& engine) {
  const bool detector = engine.facts().finds_objects();
  for (const char* name : {"baseline", "seed", "mask", "threshold"}) {
    if (!args.has(name) || detector == (std::string_view(name) == "threshold")) continue;
    fail(ErrorKind::kInvalidArgument, "--{} does not go with {}, which {}; leave it out", name,
         engine.name(), detector ? "finds objects" : "finds no objects by itself");
  }
}

void evaluate_masks(const Args& args) {
  const Engine engine = open_engine(args, kDefaultPictureModel);
  refuse_options(args, engine);
  if (engine.facts().finds_objects()) return evaluate_object_masks(args, engine);
  const EvaluationOptions options = evaluation_options(args, engine);
  const auto files = pictures_with(args["DIR"], "a mask of object numbers, NAME.mask.png",
                                   [](const TruthFiles& f) { return !f.mask.empty(); });
  ScoreReport report{.kind = "masks", .title = "Jaccard index with the true masks"};
  LabelMask truth;
  score_pictures(
      args, engine, files, report,
      [&](const TruthFiles& picture, PictureSize size) {
        truth = read_true_mask(picture, size);
        return static_cast<int64_t>(truth.objects().size());
      },
      [&](const PictureInput& input, const Run& run) {
        return mask_scores(input, run, truth, options);
      });
  report.rows = rows_for(report.pictures[0].scores[0].size() - rows_for(0).size());
  add_best_head(report);
  report.notes.push_back(
      fmt::format("Heads: the fewest patches that hold {:g} % of what [CLS] gives to patches. LOST "
                  "and TokenCut "
                  "find one object. Pixels that the model does not see count as outside.",
                  100 * options.share));
  show_report(report, args);
}

}  // namespace

EvaluationKind masks_evaluation() {
  return {.name = "masks",
          .summary = "masks out of attention, LOST and TokenCut: the Jaccard index",
          .options = {"baseline", "seed", "mask", "layer", "size", "threshold"},
          .run = evaluate_masks};
}

}  // namespace fovea
