#include "fovea/cli/detect/run.h"

#include <fmt/format.h>

#include <utility>

#include "fovea/base/error.h"
#include "fovea/cli/detect/object_masks.h"
#include "fovea/cli/model_options.h"
#include "fovea/cli/picture_options.h"
#include "fovea/cli/site_options.h"

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

}  // namespace

std::shared_ptr<const DetectorRun> run_detector(const Args& args, const DetectView& view) {
  static std::pair<std::string, std::shared_ptr<const DetectorRun>> last;
  const std::string key =
      fmt::format("{}\n{}\n{}\n{}\n{}", model_name(args, kDefaultDetectionModel), args["FILE"],
                  args.has("size") ? args["size"] : "", args["dtype"], view.needs_positions);
  if (last.second != nullptr && last.first == key) {
    check_detect_choice(args, view, last.second->engine);
    check_places(args, last.second->input);
    return last.second;
  }
  last = {};  // two large runs need not fit into memory
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
  last = {key, std::make_shared<const DetectorRun>(
                   DetectorRun{std::move(engine), std::move(input), std::move(result)})};
  return last.second;
}

}  // namespace fovea
