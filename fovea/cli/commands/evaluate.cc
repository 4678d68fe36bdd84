#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "fovea/ask/places.h"
#include "fovea/base/error.h"
#include "fovea/cli/ask_options.h"
#include "fovea/cli/count.h"
#include "fovea/cli/evaluate/truth_folder.h"
#include "fovea/cli/map_options.h"
#include "fovea/cli/model_options.h"
#include "fovea/cli/outputs.h"

namespace fovea {
namespace {

std::vector<std::string> evaluation_names() {
  std::vector<std::string> names;
  for (const QuestionKind& kind : kinds_of("evaluate")) names.push_back(kind.view);
  return names;
}

const QuestionKind& chosen_evaluation(const Args& args) {
  static const std::vector<QuestionKind> kinds = kinds_of("evaluate");
  const auto found = std::ranges::find(kinds, args["KIND"], &QuestionKind::view);
  if (found != kinds.end()) return *found;
  fail(ErrorKind::kInvalidArgument, "there is nothing called '{}' to evaluate; take one of {}",
       args["KIND"], fmt::join(evaluation_names(), ", "));
}

TruthWanted wanted_truth(const QuestionKind& kind, const Engine& engine) {
  if (kind.view == "boxes") {
    return {.told = "true boxes, NAME.json or NAME.mask.png", .either = true};
  }
  if (kind.view == "detections") return {.told = "true objects, NAME.json", .objects = true};
  if (!engine.facts().finds_objects()) {
    return {.told = "a mask of object numbers, NAME.mask.png", .mask = true};
  }
  return {
      .told = "true objects and masks, NAME.json and NAME.mask.png", .mask = true, .objects = true};
}

void run_evaluate(const Args& args) {
  const QuestionKind& kind = chosen_evaluation(args);
  check_table_out(args, "scores");
  check_outputs(args);
  const Question question =
      typed_question(args, "evaluate", RunSort::kPicture, Json::object({{"kind", kind.name}}));
  const Engine engine =
      open_engine(args, kind.view == "detections" ? kDefaultDetectionModel : kDefaultPictureModel);
  check_place(question, engine, /*sees_picture=*/true);
  const ManyInputs inputs =
      pictures_with_truth(args["DIR"], wanted_truth(kind, engine), given_size(args));
  const ManyState state = counted(engine, inputs, question, "");
  show_count(answer_of(state, engine, inputs, question), args);
}

}  // namespace

Command evaluate_command() {
  return {
      .name = "evaluate",
      .summary = "how well objects are found, against a folder of pictures with the truth",
      .details =
          "DIR holds pictures NAME.png (or .jpg, .jpeg, .webp, .ppm, .pgm, .pnm) and beside\n"
          "each what is true of it: NAME.mask.png, whose pixels are object numbers with 0\n"
          "for the background, or NAME.json with {\"objects\": [{\"id\": 1, \"label\": \"cat\",\n"
          "\"box_xyxy\": [x0, y0, x1, y1]}]}. Pictures without it are skipped with a note,\n"
          "those that cannot be read are left out and told.\n"
          "\n"
          "kinds:\n" +
          question_summaries("evaluate").substr(std::string_view("views:\n").size()) +
          "\n"
          "examples:\n"
          "  fovea evaluate masks models/scenes-vit/demo --baseline\n"
          "  fovea evaluate detections models/scenes-detr/demo\n"
          "  fovea evaluate masks models/scenes-detr/demo -m scenes-detr\n"
          "  fovea evaluate boxes photos -m facebook/dino-vits16 --size 480x480\n",
      .positionals = {{.name = "KIND",
                       .help = "what to score, see below",
                       .suggestions = evaluation_names(),
                       .is_file = false},
                      {.name = "DIR", .help = "pictures and what is true of them"}},
      .options = joined(
          joined(joined(model_options(fmt::format("{}, of detections {}", kDefaultPictureModel,
                                                  kDefaultDetectionModel)),
                        input_field_options({"size"})),
                 joined(field_options("evaluate"),
                        map_options({"colors", "pixels", "svg-text", "sidecar"}))),
          {Option::flag("json", "print the scores as JSON, also those of every picture"),
           Option::text("out", "FILE",
                        "write a file: the table as .png .svg .pdf, or the scores of every picture "
                        "as .json or "
                        ".csv")}),
      .run = run_evaluate};
}

}  // namespace fovea
