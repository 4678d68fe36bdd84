#include <fmt/format.h>

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/cli/image/page.h"
#include "fovea/cli/image/parts.h"
#include "fovea/cli/image/texts.h"
#include "fovea/cli/image/view.h"
#include "fovea/cli/map_options.h"
#include "fovea/cli/map_out.h"
#include "fovea/cli/model_options.h"
#include "fovea/cli/outputs.h"
#include "fovea/cli/picture_options.h"
#include "fovea/cli/predictions.h"
#include "fovea/cli/site_options.h"
#include "fovea/cli/terminal.h"
#include "fovea/cli/views.h"
#include "fovea/engine/picture_input.h"

namespace fovea {
namespace {

bool is_page(const Args& args) {
  return args.has("out") && is_page_suffix(args["out"]);
}

ImageView chosen_image_view(const Args& args) {
  const std::vector<ImageView> views = image_views();
  const auto is_chosen = [&](const ImageView& view) { return view.name == args["view"]; };
  return args.has("view") ? *std::ranges::find_if(views, is_chosen) : views.front();
}

void check_image_options(const Args& args) {
  const ImageView view = chosen_image_view(args);
  refuse_options_of_others(image_views(), view, args);
  view.check(args);
  picture_size(args);
  if (args.has("text")) {
    for (const std::string& text : args.all("text")) check_is_text("--text", text);
  }
  check_out_suffix(args);
  check_mask_out(args);
  check_outputs(args);
  if (is_page(args)) check_image_page(args);
}

// What the model's facts tell before the picture is read.
void check_image_choice(const Args& args, const Engine& engine) {
  if (engine.facts().finds_objects()) {
    fail(ErrorKind::kUnsupported, "{} finds objects and has no patches; take fovea detect",
         engine.name());
  }
  if (args.has("text")) check_compares_texts(engine);
  const SiteKind kind = sites_of(engine.facts(), /*sees_picture=*/true).front();
  check_layer(args, engine, kind);
  check_head(args, engine, kind);
}

// What the picture tells before the model runs.
void check_in_picture(const Args& args, const PictureInput& input) {
  if (args.has("at")) patch_at(input, args["at"]);
  if (args.has("token")) front_token_named(input.input.patches, args["token"]);
}

// The content with what the texts are to the picture; `text` is that for people.
void add_similarities(const ImageRun& run, Content& content, std::string& text) {
  const std::vector<TextSimilarity> found =
      text_similarities(run.engine, run.result, run.args.all("text"));
  const SimilarityFacts& facts = *run.engine.facts().similarity;
  text += similarities_text(facts, found, stdout_terminal());
  content.json = [json = content.json, similarity = similarities_json(facts, found)] {
    Json with_texts = json();
    with_texts.set("similarity", similarity);
    return with_texts;
  };
}

void run_image(const Args& args) {
  check_image_options(args);
  const Engine engine = open_engine(args, kDefaultPictureModel);
  check_image_choice(args, engine);
  const PictureInput input = read_picture_input(engine, args["FILE"], picture_size(args));
  check_in_picture(args, input);
  const RunResult result =
      run_picture(engine, input, {.record = {.values = false}, .logits = LogitRows::kAll});
  print_warnings(result.warnings);
  const std::optional<Artifacts> artifacts = artifacts_of(result);
  const ImageRun made{args, engine, input, result, artifacts};
  if (is_page(args)) {
    write_image_page(made);
    return;
  }
  Content content = chosen_image_view(args).make(made);
  const Terminal terminal = stdout_terminal();
  std::string preface = predictions_text(engine, result, terminal);
  if (artifacts) {
    preface += artifacts_line(*artifacts, terminal);
    content.json = [found = to_json(*artifacts), inner = content.json] {
      Json json = inner();
      json.set("artifacts", found);
      return json;
    };
  }
  if (engine.facts().head == HeadKind::kPictureClass) {
    content.json = [classes = classes_json(engine, result), inner = content.json] {
      Json json = inner();
      json.set("classes", classes);
      return json;
    };
  }
  if (args.has("text")) add_similarities(made, content, preface);
  show(content, args, preface);
}

}  // namespace

Command image_command() {
  return {
      .name = "image",
      .summary = "where each head of a vision model looks in a picture",
      .details =
          "Without --at: what the token in front of the patches, [CLS], attends to, in\n"
          "every head of the last layer. Weights lie on patches, one colour each; the\n"
          "caption says how much of the sum lies on them and not on special tokens.\n"
          "\n"
          "views:\n" +
          summaries_of(image_views()) +
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
          joined(
              model_options(kDefaultPictureModel),
              {Option::choice("view", names_of(image_views()), "what to show (default: maps)"),
               Option::text("at", "X,Y", "a patch, by a pixel of the picture, instead of [CLS]"),
               Option::text("token", "NAME",
                            "another token in front of the patches instead of [CLS]: \"[REG 1]\""),
               Option::flag("column", "who attends to it, not what it attends to"),
               Option::text("layer", "N|all",
                            "from 0 (default: the last); all: with --view kernels"),
               Option::real("mask", "P",
                            "show the fewest patches that hold this share of the mass, 0.6 say", 0),
               Option::text("text", "TEXT",
                            "of CLIP and SigLIP: how well this text goes with the picture; may be "
                            "given several times")
                   .several_times(),
               Option::text("mask-out", "FILE.png",
                            "write the mask, as large as the picture: pixel = object number"),
               Option::flag("without-artifacts",
                            "take out patches of outlying norm and renormalise the rest"),
               Option::integer("radius", "R",
                               "of a kernel, in patches (default: a quarter of the grid)", 0),
               Option::choice("compat", {"keras"},
                              "distances as a widely copied program has them: too low"),
               Option::text("out", "FILE",
                            "write a file: .png .svg .pdf, .html with all heads to move through, "
                            "or the numbers as " +
                                data_suffixes())}),
          joined(picture_options(), picture_map_options())),
      .run = run_image};
}

}  // namespace fovea
