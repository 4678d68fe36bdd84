#include "fovea/base/error.h"
#include "fovea/cli/ask_options.h"
#include "fovea/cli/model_options.h"

namespace fovea {
namespace {

// --masks says in a word what is asked, and --mask-out wants them.
Question detect_question(const Args& args) {
  const char* masks = args.flag("masks") ? "masks" : args.has("mask-out") ? "mask-out" : nullptr;
  Json json = Json::object();
  if (masks != nullptr && !args.has("view")) json.set("kind", "masks");
  Question question = typed_question(args, "detect", RunSort::kObjects, std::move(json));
  if (masks != nullptr && question.kind != "masks") {
    fail(ErrorKind::kInvalidArgument, "--{} does not go with --view {}; leave one out", masks,
         args["view"]);
  }
  return question;
}

std::vector<Option> own_options() {
  return {Option::flag("masks", "areas of the objects out of attention: --view masks"),
          Option::text("mask-out", "FILE.png", "write the first masks: pixel = object number")};
}

void run_detect(const Args& args) {
  check_answer_options(args);
  const Question question = detect_question(args);
  const GivenInput picture{.kind = GivenInput::Kind::kPicture, .value = args["FILE"]};
  show(open_session(args, picture, kDefaultDetectionModel, question,
                    {.values = takes_values(question)}),
       question, args);
}

}  // namespace

Command detect_command() {
  return {.name = "detect",
          .summary = "objects in a picture, and what pixels and object queries attend to (DETR)",
          .details =
              "Boxes are in pixels of the picture. A row is what something attends to and\n"
              "sums to 1; a column is who attends to it, told against uniform attention.\n"
              "\n" +
              question_summaries("detect") +
              "\n"
              "examples:\n"
              "  fovea detect photo.jpg\n"
              "  fovea detect photo.jpg --view queries --out queries.png\n"
              "  fovea detect photo.jpg --at 120,80 --head mean\n"
              "  fovea detect photo.jpg --view points --column --out points.png\n"
              "  fovea detect photo.jpg --at 120,80 --to 300,200\n"
              "  fovea detect photo.jpg --masks --in-box --mask-out masks.png\n",
          .positionals = {{.name = "FILE", .help = "PNG, JPEG, WebP, PPM or PGM"}},
          .options =
              joined(joined(model_options(kDefaultDetectionModel), input_field_options({"size"})),
                     joined(joined(question_options("detect", {}, "what the options are about"),
                                   own_options()),
                            answer_options())),
          .run = run_detect};
}

}  // namespace fovea
