#include "fovea/cli/detect/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fovea/base/error.h"
#include "fovea/cli/detect/object_masks.h"
#include "fovea/cli/model_options.h"
#include "fovea/cli/outputs.h"
#include "fovea/cli/picture_options.h"
#include "fovea/cli/site_options.h"
#include "fovea/cli/views.h"

namespace fovea {
namespace {

// What the model's facts tell before the picture is read.
void check_detect_choice(const Args& args, const DetectView& view, const Engine& engine) {
  check_query(args, engine);
  check_layer(args, engine, view.site);
  check_head(args, engine, view.site);
  chosen_mask_sources(args, engine);
}

// What the picture tells before the model runs.
void check_places(const Args& args, const PictureInput& input) {
  if (args.has("at")) {
    for (const PixelArgument pixel : parse_pixels(args["at"])) cell_at(input, "at", pixel);
  }
  if (args.has("to")) cell_at(input, "to", parse_pixel(args["to"], "--to"));
  check_ranges(args, input.grid.rows() * input.grid.columns());
}

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

DetectRun new_run(const Args& args, const DetectView& view) {
  Engine engine = open_engine(args, kDefaultDetectionModel);
  if (!engine.facts().finds_objects()) {
    fail(ErrorKind::kUnsupported, "{} finds no objects; fovea detect takes DETR models, {} say",
         engine.name(), kDefaultDetectionModel);
  }
  check_detect_choice(args, view, engine);
  PictureInput input = read_picture_input(engine, args["FILE"], picture_size(args));
  check_places(args, input);
  RunResult result = engine.run(
      input.input,
      {.record = {.values = false, .positions = view.needs_positions}, .logits = LogitRows::kAll});
  print_warnings(result.warnings);
  return {.args = args,
          .engine = std::move(engine),
          .input = std::move(input),
          .result = std::move(result)};
}

}  // namespace

const DetectRun& run_detector(const Args& args, const DetectView& view, KeptDetectRun& kept) {
  const std::string key =
      fmt::format("{}\n{}\n{}\n{}\n{}", model_name(args, kDefaultDetectionModel), args["FILE"],
                  args.has("size") ? args["size"] : "", args["dtype"], view.needs_positions);
  if (kept.key != key) kept = {};  // two large runs need not fit into memory
  if (kept.run) {
    check_detect_choice(args, view, kept.run->engine);
    check_places(args, kept.run->input);
    kept.run->args = args;
  } else {
    kept.run = new_run(args, view);
    kept.key = key;
  }
  DetectRun& run = *kept.run;
  run.threshold = args.real("threshold");
  run.objects = found_objects(run.engine, run.result, run.input.picture.size(), run.threshold);
  return run;
}

void show_detections(const Args& args, KeptDetectRun& kept) {
  const DetectView view = chosen_detect_view(args);
  check_detect(view, args);
  const DetectRun& run = run_detector(args, view, kept);
  const Content content = view.make(run);
  if (run.objects.empty() && view.needs_objects && (args.has("out") || args.flag("json"))) {
    print_warnings({fmt::format("no object has a score above {:g}; {} instead", run.threshold,
                                view.name == "between" ? "attention between all queries is given"
                                                       : "the encoder's attention is given")});
  }
  show(content, args, objects_text(run, stdout_terminal()));
}

}  // namespace fovea
