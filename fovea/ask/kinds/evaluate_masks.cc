// Masks against true masks, by the Jaccard index: out of attention, or of what a detector finds.
#include <fmt/format.h>

#include <algorithm>

#include "fovea/ask/detection_answer.h"
#include "fovea/ask/many/detection_scores.h"
#include "fovea/ask/many/picture_scores.h"
#include "fovea/ask/picture_answer.h"
#include "fovea/base/error.h"
#include "fovea/engine/patch_pixels.h"
#include "fovea/explain/pictures/mass_mask.h"
#include "fovea/figure/object_view.h"
#include "fovea/figure/picture_layers.h"

namespace fovea {
namespace {

using Jaccards = std::array<double, 256>;  // with each object; entry 0 with all together

constexpr const char* kEach = "each true object by itself";
constexpr const char* kAll = "all objects of a picture together";

std::vector<ScoreRow> mask_rows(size_t heads) {
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
                                std::optional<int64_t> layer, double share) {
  const auto compare = [&](const GridMask& mask) {
    return jaccard_of_objects(pixel_mask(input.grid, mask).labels, truth.labels);
  };
  const MassMasks masks = find_mass_masks(run, layer, share);
  std::vector<Jaccards> heads;
  for (const GridMask& mask : masks.heads) heads.push_back(compare(mask));
  const auto with_all = [](const Jaccards& jaccards) { return jaccards[0]; };
  std::vector<double> scores{best_per_object(heads, truth.objects()), with_all(compare(masks.mean)),
                             with_all(compare(find_lost(run, layer).mask)),
                             with_all(compare(find_token_cut(run, layer).mask)),
                             with_all(std::ranges::max(heads, {}, with_all))};
  std::ranges::transform(heads, std::back_inserter(scores), with_all);
  return scores;
}

// Which head is best can be known for all pictures only: it is one head for all of them.
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

// Fields that only detectors take, or only others.
void refuse_fields(const ManyAsked& asked) {
  const bool detector = asked.engine.facts().finds_objects();
  for (const char* name : {"baseline", "seed", "mask", "threshold"}) {
    if (!asked.question.flag(name) || detector == (std::string_view(name) == "threshold")) continue;
    fail(ErrorKind::kInvalidArgument, Field{name}, "it does not go with {}, which {}; leave it out",
         asked.engine.name(), detector ? "finds objects" : "finds no objects by itself");
  }
}

double share_of_masks(const Question& question) {
  return question.number("mask").value_or(kMassShare);
}

std::unique_ptr<Counter> count_masks(const ManyAsked& asked) {
  refuse_fields(asked);
  if (asked.engine.facts().finds_objects()) return object_mask_counter(asked);
  return picture_score_counter(
      asked,
      {.objects = [](const Truth& truth,
                     PictureSize size) { return std::ssize(true_mask(truth, size).objects()); },
       .scores =
           [layer = asked.question.place.layer, share = share_of_masks(asked.question)](
               const PictureInput& input, const Run& run, const Truth& truth) {
             return mask_scores(input, run, true_mask(truth, input.picture.size()), layer, share);
           }});
}

Answer finish_masks(const ManyAsked& asked, const ManyState& state) {
  if (asked.engine.facts().finds_objects()) return object_mask_answer(asked, state);
  ScoreReport report = report_of(asked, state);
  report.kind = "masks";
  report.title = "Jaccard index with the true masks";
  report.rows = mask_rows(report.pictures.front().scores.front().size() - mask_rows(0).size());
  add_best_head(report);
  report.notes.push_back(
      fmt::format("Heads: the fewest patches that hold {:g} % of what [CLS] gives to patches. LOST "
                  "and TokenCut "
                  "find one object. Pixels that the model does not see count as outside.",
                  100 * share_of_masks(asked.question)));
  return scores_answer(report);
}

}  // namespace

QuestionKind evaluate_masks_question() {
  FieldInfo mask = mask_field();
  mask.otherwise = fmt::format("{}", kMassShare);
  std::vector<FieldInfo> fields = detection_fields({layer_field(), mask});
  for (FieldInfo& field : baseline_fields()) fields.push_back(std::move(field));
  return {.name = "evaluate_masks",
          .view = "masks",
          .summary = "masks out of attention, LOST and TokenCut: the Jaccard index",
          .fields = std::move(fields),
          .verbs = {"evaluate"},
          .has_maps = false,
          .has_page = false,
          .check = check_sees_pictures,
          .counter = count_masks,
          .finish = finish_masks,
          .doing = "evaluating"};
}

}  // namespace fovea
