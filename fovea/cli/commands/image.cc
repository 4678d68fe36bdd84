#include <fmt/format.h>

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/cli/ask_options.h"
#include "fovea/cli/model_options.h"
#include "fovea/cli/show.h"
#include "fovea/cli/terminal.h"

namespace fovea {
namespace {

// The size of a page that people still send by mail. A page of their own choice may be larger.
constexpr uint64_t kComfortableBytes = 24'000'000;

// Whether the answer will have one mask to write.
void check_one_mask(const Args& args, const Question& question) {
  check_mask_out(args);
  if (!args.has("mask-out") || question.kind == "lost" || question.kind == "tokencut") return;
  if (question.kind != "maps") {
    fail(ErrorKind::kInvalidArgument, "--mask-out does not go with --view {}; leave one out",
         question.kind);
  }
  if (!args.has("mask")) {
    fail(ErrorKind::kInvalidArgument,
         "--mask-out is given but no mask is made; say its share with --mask 0.6, or take --view "
         "lost");
  }
  const HeadChoice::Kind heads = question.place.head.value_or(HeadChoice{}).kind;
  if (heads == HeadChoice::Kind::kAll || heads == HeadChoice::Kind::kSome) {
    fail(ErrorKind::kInvalidArgument,
         "--mask-out holds one mask but every head has its own; choose by --head N, mean or max");
  }
}

Question image_question(const Args& args) {
  Json json = Json::object();
  if (!args.has("view") && !args.has("top")) json.set("kind", "maps");
  const Question question = typed_question(args, "image", RunSort::kPicture, std::move(json));
  if (args.has("text")) {
    for (const std::string& text : args.all("text")) check_is_text("--text", text);
  }
  check_one_mask(args, question);
  return question;
}

// All layers, or the last one where all would be large.
void show_image_page(const Session& session, const Question& question, const Args& args) {
  PageOptions options = session.page(question);
  const auto finished = session.run();
  const Run& run = finished->run();
  int last = 0, layers = 0;
  for (const auto& record : run.records) {
    if (record->site.kind != options.opens_at) continue;
    last = std::max(last, record->site.layer);
    ++layers;
  }
  const bool all = !options.choice.layer && layers > 1;
  const uint64_t bytes = all ? page_bytes_estimate(run, options) : 0;
  if (bytes > kComfortableBytes) {
    options.choice.kind = options.opens_at;
    options.choice.layer = last;
  }
  show_page(session, options, args);
  if (bytes > kComfortableBytes) {
    write_stdout(fmt::format(
        "it holds layer {} alone, for all {} would take about {} MB; --layer N chooses another\n",
        last, layers, bytes / 1'000'000));
  }
}

void run_image(const Args& args) {
  const GivenInput given{.kind = GivenInput::Kind::kPicture, .value = args["FILE"]};
  check_answer_options(args);
  const Question question = image_question(args);
  check_outputs_of(question, args);
  Engine engine = open_engine(args, kDefaultPictureModel);
  if (engine.facts().finds_objects()) {
    fail(ErrorKind::kUnsupported, "{} finds objects and has no patches; take fovea detect",
         engine.name());
  }
  const Session session =
      open_session(args, given, std::move(engine), question, {.values = takes_values(question)});
  writes_page(args) ? show_image_page(session, question, args) : show(session, question, args);
}

}  // namespace

Command image_command() {
  return {.name = "image",
          .summary = "where each head of a vision model looks in a picture",
          .details =
              "Without --at: what the token in front of the patches, [CLS], attends to, in\n"
              "every head of the last layer. Weights lie on patches, one colour each; the\n"
              "caption says how much of the sum lies on them and not on special tokens.\n"
              "\n" +
              question_summaries("image") +
              "\n"
              "examples:\n"
              "  fovea image photo.jpg\n"
              "  fovea image photo.jpg --at 120,80 --head mean\n"
              "  fovea image photo.jpg --at 120,80 --column\n"
              "  fovea image photo.jpg -m CLIP --text \"a cat\" --text \"a dog\"\n"
              "  fovea image photo.jpg --out page.html\n"
              "  fovea image photo.jpg --mask 0.6 --head mean --out mask.png\n"
              "  fovea image photo.jpg --view composite\n"
              "  fovea image photo.jpg --view kernels --layer 0\n"
              "  fovea image photo.jpg --view field --at 120,80\n"
              "  fovea image photo.jpg --view tokencut --mask-out photo.mask.png\n",
          .positionals = {{.name = "FILE", .help = "PNG, JPEG, WebP, PPM or PGM"}},
          .options = joined(
              joined(joined(model_options(kDefaultPictureModel), input_field_options({"size"})),
                     joined(question_options("image", {"maps"}, "maps"),
                            {Option::text("mask-out", "FILE.png",
                                          "write the mask, as large as the picture: pixel = object "
                                          "number")})),
              answer_options()),
          .run = run_image};
}

}  // namespace fovea
