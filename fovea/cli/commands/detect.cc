#include <fmt/format.h>

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/cli/detect/run.h"
#include "fovea/cli/detect/view.h"
#include "fovea/cli/map_options.h"
#include "fovea/cli/map_out.h"
#include "fovea/cli/model_options.h"
#include "fovea/cli/outputs.h"
#include "fovea/cli/picture_options.h"
#include "fovea/cli/terminal.h"
#include "fovea/cli/views.h"

namespace fovea {
namespace {

// What the options given are about, if no view is named.
std::string detect_view_name(const Args& args) {
  if (args.has("view")) return args["view"];
  if (args.has("to")) return "why";
  if (args.has("at")) return parse_pixels(args["at"]).size() > 1 ? "points" : "encoder";
  if (args.has("query")) return "queries";
  if (args.has("rows") || args.has("cols")) return "matrix";
  for (const char* option : {"masks", "mask-from", "mask-cut", "mask-out", "in-box"}) {
    if (args.has(option)) return "masks";
  }
  return "objects";
}

DetectView chosen_detect_view(const Args& args) {
  const std::vector<DetectView> views = detect_views();
  return *std::ranges::find(views, detect_view_name(args), &DetectView::name);
}

void check_detect(const DetectView& chosen, const Args& args) {
  refuse_options_of_others(detect_views(), chosen, args);
  chosen.check(args);
  head_of(args);
  picture_size(args);
  if (const double threshold = args.real("threshold"); !(threshold <= 1)) {
    fail(ErrorKind::kInvalidArgument, "--threshold is {} but a score is 0 to 1", args["threshold"]);
  }
  check_outputs(args);
  if (!args.has("out")) return;
  const std::filesystem::path path = args["out"];
  if (!is_data_suffix(path) && !is_figure_suffix(path)) {
    fail(ErrorKind::kInvalidArgument,
         "--out is '{}' but detections are written to .png, .svg, .pdf, {}; give one of these "
         "suffixes",
         path.string(), data_suffixes());
  }
}

void detect(const Args& args) {
  const DetectView view = chosen_detect_view(args);
  check_detect(view, args);
  const auto run = run_detector(args, view);
  DetectRun found{args, run->engine, run->input, run->result, args.real("threshold")};
  found.objects =
      found_objects(run->engine, run->result, run->input.picture.size(), found.threshold);
  const Content content = view.make(found);
  if (found.objects.empty() && view.needs_objects && (args.has("out") || args.flag("json"))) {
    print_warnings({fmt::format("no object has a score above {:g}; {} instead", found.threshold,
                                view.name == "between" ? "attention between all queries is given"
                                                       : "the encoder's attention is given")});
  }
  show(content, args, objects_text(found, stdout_terminal()));
}

std::vector<Option> own_options() {
  return {Option::choice("view", names_of(detect_views()),
                         "what to show (default: what the options are about)"),
          Option::real("threshold", "P", "objects with a score above this", 0).with_default("0.7"),
          Option::integer("query", "N", "one object query, from 0, in every head", 0),
          Option::text("at", "X,Y", "a cell by a pixel of the picture; several as X,Y:X,Y:..."),
          Option::text("to", "X,Y", "with --at: why that cell attends to this one"),
          Option::flag("column", "who attends to it, not what it attends to"),
          Option::integer("layer", "N", "from 0 (default: the last)", 0),
          Option::flag("masks", "areas of the objects out of attention"),
          Option::choice("mask-from", {"encoder", "cross", "head"},
                         "only masks from here (default: all that the model has)"),
          Option::text("mask-cut", "RULE",
                       "otsu, mass:SHARE or maximum:SHARE of attention (default: otsu)"),
          Option::flag("in-box", "masks end at the object's box"),
          Option::text("mask-out", "FILE.png", "write the first masks: pixel = object number"),
          Option::text("rows", "A:B", "a part of the encoder's map: its rows"),
          Option::text("cols", "A:B", "and its columns"),
          Option::text("out", "FILE",
                       "write a file: .png .svg .pdf, or the numbers as " + data_suffixes())};
}

}  // namespace

Command detect_command() {
  return {.name = "detect",
          .summary = "objects in a picture, and what pixels and object queries attend to (DETR)",
          .details =
              "Boxes are in pixels of the picture. A row is what something attends to and\n"
              "sums to 1; a column is who attends to it, told against uniform attention.\n"
              "\n"
              "views:\n" +
              summaries_of(detect_views()) +
              "\n"
              "examples:\n"
              "  fovea detect photo.jpg\n"
              "  fovea detect photo.jpg --view queries --out queries.png\n"
              "  fovea detect photo.jpg --at 120,80 --head mean\n"
              "  fovea detect photo.jpg --view points --column --out points.png\n"
              "  fovea detect photo.jpg --at 120,80 --to 300,200\n"
              "  fovea detect photo.jpg --masks --in-box --mask-out masks.png\n",
          .positionals = {{.name = "FILE", .help = "PNG, JPEG, WebP, PPM or PGM"}},
          .options = joined(joined(model_options(kDefaultDetectionModel), own_options()),
                            joined(picture_options(), picture_map_options())),
          .run = detect};
}

}  // namespace fovea
