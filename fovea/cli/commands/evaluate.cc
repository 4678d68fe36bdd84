#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/cli/evaluate/kind.h"
#include "fovea/cli/map_options.h"
#include "fovea/cli/model_options.h"
#include "fovea/cli/outputs.h"
#include "fovea/cli/picture_options.h"
#include "fovea/cli/show.h"
#include "fovea/cli/views.h"

namespace fovea {
namespace {

EvaluationKind chosen_evaluation(const Args& args) {
  const std::vector<EvaluationKind> kinds = evaluation_kinds();
  const auto found = std::ranges::find(kinds, args["KIND"], &EvaluationKind::name);
  if (found != kinds.end()) return *found;
  fail(ErrorKind::kInvalidArgument, "there is nothing called '{}' to evaluate; take one of {}",
       args["KIND"], fmt::join(names_of(kinds), ", "));
}

void check_evaluation_kind(const EvaluationKind& chosen, const Args& args) {
  for (const EvaluationKind& kind : evaluation_kinds()) {
    for (const std::string& option : kind.options) {
      if (!args.has(option) || std::ranges::count(chosen.options, option) > 0) continue;
      fail(ErrorKind::kInvalidArgument, "--{} is for evaluating {}, not {}; leave it out", option,
           kind.name, chosen.name);
    }
  }
  check_table_out(args, "scores");
  check_outputs(args);
}

void run_evaluate(const Args& args) {
  const EvaluationKind kind = chosen_evaluation(args);
  check_evaluation_kind(kind, args);
  kind.run(args);
}

}  // namespace

std::vector<EvaluationKind> evaluation_kinds() {
  return {masks_evaluation(), boxes_evaluation(), detections_evaluation()};
}

Command evaluate_command() {
  return {
      .name = "evaluate",
      .summary = "how well objects are found, against a folder of pictures with the truth",
      .details =
          "DIR holds pictures NAME.png (or .jpg, .jpeg, .webp, .ppm, .pgm, .pnm) and beside each "
          "what\n"
          "is true of it: NAME.mask.png, whose pixels are object numbers with 0 for the\n"
          "background, or NAME.json with {\"objects\": [{\"id\": 1, \"label\": \"cat\",\n"
          "\"box_xyxy\": [x0, y0, x1, y1]}]}. Pictures without it are skipped with a note.\n"
          "\n"
          "kinds:\n" +
          summaries_of(evaluation_kinds()) +
          "\n"
          "examples:\n"
          "  fovea evaluate masks models/scenes-vit/demo --baseline\n"
          "  fovea evaluate detections models/scenes-detr/demo\n"
          "  fovea evaluate masks models/scenes-detr/demo -m scenes-detr\n"
          "  fovea evaluate boxes photos -m facebook/dino-vits16 --size 480x480\n",
      .positionals = {{.name = "KIND",
                       .help = "what to score, see below",
                       .suggestions = names_of(evaluation_kinds()),
                       .is_file = false},
                      {.name = "DIR", .help = "pictures and what is true of them"}},
      .options = joined(
          joined(joined(model_options(fmt::format("{}, of detections {}", kDefaultPictureModel,
                                                  kDefaultDetectionModel)),
                        picture_options()),
                 map_options({"colors", "pixels", "svg-text", "sidecar"})),
          {Option::integer("layer", "N", "from 0 (default: the last)", 0),
           Option::real(
               "mask", "P",
               "a mask is the fewest patches that hold this share of the mass (default: 0.6)", 0),
           Option::real("threshold", "P", "objects with a score above this (default: 0.7)", 0),
           Option::flag("baseline", "beside it the same model with random weights"),
           Option::integer("seed", "N", "of the random weights (default: 0)", 0),
           Option::flag("json", "print the scores as JSON, also those of every picture"),
           Option::text("out", "FILE",
                        "write a file: the table as .png .svg .pdf, or the scores of every picture "
                        "as .json or "
                        ".csv")}),
      .run = run_evaluate};
}

}  // namespace fovea
