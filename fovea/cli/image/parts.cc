#include "fovea/cli/image/parts.h"

#include <fmt/format.h>

#include "fovea/base/error.h"
#include "fovea/base/version.h"
#include "fovea/render/picture_view.h"

namespace fovea {

LayerChoice layer_choice(const Args& args) {
  LayerChoice choice;
  if (!args.has("layer")) return choice;
  if (args["layer"] == "all") {
    choice.all = true;
    return choice;
  }
  choice.layer = parse_integer("--layer", args["layer"]);
  if (*choice.layer < 0) {
    fail(ErrorKind::kInvalidArgument, "--layer is {} but layers are counted from 0", *choice.layer);
  }
  return choice;
}

std::optional<int64_t> one_layer(const Args& args) {
  const LayerChoice choice = layer_choice(args);
  if (choice.all) {
    fail(ErrorKind::kInvalidArgument, "--layer all is for --view kernels; give one layer");
  }
  return choice.layer;
}

double mask_share(const Args& args, double otherwise) {
  if (!args.has("mask")) return otherwise;
  const double share = args.real("mask");
  if (!(share > 0 && share <= 1)) {
    fail(ErrorKind::kInvalidArgument, "--mask is {} but a share of the mass is above 0 and up to 1",
         args["mask"]);
  }
  return share;
}

void check_place(const Args& args) {
  if (args.has("at")) parse_pixel(args["at"]);
  if (args.has("at") && args.has("token")) {
    fail(ErrorKind::kInvalidArgument,
         "--at chooses a patch and --token another token; leave one out");
  }
}

int64_t patch_side(const Engine& engine) {
  const PictureFacts& picture = *engine.facts().picture;
  if (picture.patch_height != picture.patch_width) {
    fail(ErrorKind::kUnsupported,
         "this model's patches have {} x {} pixels, and distances are told for square ones only",
         picture.patch_width, picture.patch_height);
  }
  return picture.patch_height;
}

Json image_metadata(const ImageRun& run) {
  const Axis& axis = picture_axis(run.result.run);
  Json metadata = Json::object();
  metadata.set("version", version());
  metadata.set("model", run.result.run.model);
  metadata.set("model_hash", run.result.run.model_hash);
  metadata.set("grid_rows", axis.grid_rows);
  metadata.set("grid_cols", axis.grid_cols);
  return metadata;
}

std::optional<Artifacts> artifacts_of(const RunResult& result) {
  const Tensor& states = result.outputs.states_before_norm.tensor;
  if (states.empty()) return std::nullopt;
  return find_artifacts(states, PictureAxis::of(picture_axis(result.run)));
}

std::string artifacts_line(const Artifacts& artifacts, const Terminal& terminal) {
  const std::string name = terminal.dim("artifacts ");
  if (artifacts.count() == 0) {
    return fmt::format("{}none: no patch has an outlying norm (all below {:.1f})\n", name,
                       artifacts.cut);
  }
  return fmt::format("{}{} of {} patches ({:.1f} %) have outlying norms, above {:.1f}\n", name,
                     artifacts.count(), artifacts.norms.size(), 100 * artifacts.share(),
                     artifacts.cut);
}

Json to_json(const Artifacts& artifacts) {
  Json json = Json::object();
  json.set("patches", static_cast<int64_t>(artifacts.norms.size()));
  json.set("outliers", artifacts.count());
  json.set("share", artifacts.share());
  json.set("cut", artifacts.cut);
  json.set("median", artifacts.median);
  json.set("deviation", artifacts.deviation);
  Json which = Json::array();
  for (int64_t i = 0; i < artifacts.outliers.grid.patches(); ++i) {
    if (artifacts.outliers.holds(i)) which.push_back(i);
  }
  json.set("which", std::move(which));
  return json;
}

}  // namespace fovea
