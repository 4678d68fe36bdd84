#include "fovea/capture/run_file.h"
#include "fovea/capture/words.h"
#include "fovea/cli/command.h"
#include "fovea/cli/image/view.h"
#include "fovea/cli/map_options.h"
#include "fovea/cli/run_summary.h"
#include "fovea/explain/pictures/picture_axis.h"
#include "fovea/vision/seen_part.h"

namespace fovea {
namespace {

// Whether the run of a picture is shown over its picture: unless a view of matrices is asked for.
bool shows_picture(const Run& run, const Args& args) {
  const Axis* patches = run.find_axis("patches");
  if (run.picture.empty() || patches == nullptr || patches->grid_rows == 0) return false;
  if (args.has("out") && is_page_suffix(args["out"])) return false;
  const bool all_layers = args.has("layer") && args["layer"] == "all";
  return !args.has("view") && !args.has("words") && !args.has("site") && !all_layers;
}

PictureChoice opened_picture_choice(const Args& args, const Axis& patches) {
  const ViewChoice view = view_choice(args);
  PictureChoice choice{.layer = view.layer, .head = view.head, .column = view.column};
  if (!view.token) return choice;
  const int64_t index = token_named(patches, *view.token).index;
  const int64_t front = PictureAxis::of(patches).specials;
  if (index < front) {
    choice.token = patches.positions[static_cast<size_t>(index)].text;
  } else {
    choice.patch = index - front;
  }
  return choice;
}

void show_picture(const Run& run, const Args& args) {
  const Axis& patches = *run.find_axis("patches");
  const Picture picture = picture_of(run);
  const bool chosen = args.has("layer") || args.has("head") || args.has("token");
  show(maps_content(run, opened_picture_choice(args, patches), picture,
                    grid_over(picture.size(), patches.grid_rows, patches.grid_cols)),
       args, chosen ? "" : run_summary(run, stdout_terminal()) + "\n");
}

void run_open(const Args& args) {
  check_map_args(args);
  const Run run = load_run(args["RUN"]);
  shows_picture(run, args) ? show_picture(run, args) : show_run(run, args);
}

}  // namespace

Command open_command() {
  return {.name = "open",
          .summary = "show the maps of a captured run",
          .details =
              "Without options: what the run is, and all heads of its last layer. A run that was\n"
              "captured from a picture file is shown over its picture; --view and --site show\n"
              "the same maps as matrices.\n"
              "\n"
              "examples:\n"
              "  fovea open run.fovea.safetensors\n"
              "  fovea open run.fovea.safetensors --layer 3 --head 7\n"
              "  fovea open run.fovea.safetensors --token cat --column\n"
              "  fovea open photo.fovea.safetensors --token \"patch 3,7\"\n"
              "  fovea open run.fovea.safetensors --layer all --out heads.png\n"
              "  fovea open run.fovea.safetensors --head mean --words --out weights.csv\n",
          .positionals = {{.name = "RUN", .help = "the file, RUN.fovea.safetensors"}},
          .options = map_options(),
          .run = run_open};
}

}  // namespace fovea
