#include <fmt/format.h>

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/cli/image_view.h"
#include "fovea/cli/map_options.h"
#include "fovea/cli/map_out.h"
#include "fovea/cli/model_options.h"
#include "fovea/cli/picture_options.h"
#include "fovea/cli/predictions.h"
#include "fovea/cli/terminal.h"
#include "fovea/engine/picture_input.h"

namespace fovea {
namespace {

ImageView chosen_view(const Args& args) {
  const std::vector<ImageView> views = image_views();
  const auto is_chosen = [&](const ImageView& view) { return view.name == args["view"]; };
  return args.has("view") ? *std::ranges::find_if(views, is_chosen) : views.front();
}

// Options that belong to views: what the chosen one does not take is refused.
void check_options(const ImageView& chosen, const Args& args) {
  for (const ImageView& view : image_views()) {
    for (const std::string& option : view.options) {
      if (!args.has(option) || std::ranges::count(chosen.options, option) > 0) continue;
      fail(ErrorKind::kInvalidArgument, "--{} does not go with --view {}; leave one out", option,
           chosen.name);
    }
  }
}

void check(const Args& args) {
  const ImageView view = chosen_view(args);
  check_options(view, args);
  view.check(args);
  size_of(args);
  check_mask_out(args);
  if (!args.has("out")) return;
  const std::filesystem::path path = args["out"];
  if (!is_data_suffix(path) && !is_figure_suffix(path)) {
    fail(
        ErrorKind::kInvalidArgument,
        "--out is '{}' but maps of pictures are written to .png, .svg, .pdf, {}; give one of these "
        "suffixes",
        path.string(), data_suffixes());
  }
}

void run(const Args& args) {
  check(args);
  const Engine engine = open_engine(args, kDefaultPictureModel);
  if (engine.facts().finds_objects()) {
    fail(ErrorKind::kUnsupported, "{} finds objects and has no patches; take fovea detect",
         engine.name());
  }
  const PictureInput input = read_picture_input(engine, args["FILE"], size_of(args));
  const RunResult result =
      engine.run(input.input, {.record = {.values = false}, .logits = LogitRows::kAll});
  print_warnings(result.warnings);
  const Content content = chosen_view(args).make({args, engine, input, result});
  show(content, args, predictions_text(engine, result, stdout_terminal()));
}

std::vector<std::string> view_names() {
  std::vector<std::string> names;
  for (const ImageView& view : image_views()) names.push_back(view.name);
  return names;
}

std::string view_summaries() {
  std::string text;
  for (const ImageView& view : image_views()) {
    text += fmt::format("  {:<10} {}\n", view.name, view.summary);
  }
  return text;
}

// Those of all verbs that show maps, as far as they suit a picture.
std::vector<Option> shared_options() {
  std::vector<Option> options;
  for (Option& option : map_options()) {
    if (option.name == "head" || option.name == "colors" || option.name == "json" ||
        option.name == "scale" || option.name == "sidecar") {
      options.push_back(std::move(option));
    }
  }
  return options;
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
          view_summaries() +
          "\n"
          "examples:\n"
          "  fovea image photo.jpg\n"
          "  fovea image photo.jpg --at 120,80 --head mean\n"
          "  fovea image photo.jpg --at 120,80 --column\n"
          "  fovea image photo.jpg --mask 0.6 --head mean --out mask.png\n"
          "  fovea image photo.jpg --view tokencut --mask-out photo.mask.png\n",
      .positionals = {{.name = "FILE", .help = "PNG, JPEG, WebP, PPM or PGM"}},
      .options = joined(
          joined(
              model_options(kDefaultPictureModel),
              {Option::choice("view", view_names(), "what to show (default: maps)"),
               Option::text("at", "X,Y", "a patch, by a pixel of the picture, instead of [CLS]"),
               Option::flag("column", "who attends to it, not what it attends to"),
               Option::integer("layer", "N", "from 0 (default: the last)", 0),
               Option::real("mask", "P",
                            "show the fewest patches that hold this share of the mass, 0.6 say", 0),
               Option::text("mask-out", "FILE.png",
                            "write the mask, as large as the picture: pixel = object number"),
               size_option(),
               Option::text("out", "FILE",
                            "write a file: .png .svg .pdf, or the numbers as " + data_suffixes())}),
          shared_options()),
      .run = run};
}

}  // namespace fovea
