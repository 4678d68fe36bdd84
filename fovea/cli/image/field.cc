// How far a patch looks through one layer, through two, ... through all: attention rollout.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "fovea/cli/image/parts.h"
#include "fovea/cli/model_options.h"
#include "fovea/explain/pictures/receptive_field.h"
#include "fovea/explain/rollout.h"
#include "fovea/render/caption.h"
#include "fovea/render/picture_view.h"
#include "fovea/render/view_frame.h"
#include "fovea/vision/seen_part.h"

namespace fovea {
namespace {

constexpr int64_t kMostPanels = 12;  // more layers are shown in steps

struct Depth {
  int64_t layers = 0;
  std::vector<double> weights;  // of patches
  ReceptiveField field;         // in patches
};

struct Fields {
  SiteKind kind = SiteKind::kSelf;
  int64_t patch = 0;
  GridShape grid;
  int64_t side = 0;  // of a patch, in pixels
  std::vector<Depth> depths;

  double pixels(double patches) const { return static_cast<double>(side) * patches; }
};

// All, or some that are evenly apart; the last always.
std::set<int64_t> shown_depths(int64_t layers) {
  const int64_t count = std::min(layers, kMostPanels);
  std::set<int64_t> depths;
  for (int64_t i = 1; i <= count; ++i) depths.insert((i * layers + count / 2) / count);
  depths.insert(layers);
  return depths;
}

Fields fields_of(const ImageRun& run) {
  const Run& captured = run.result.run;
  const PictureAxis axis = PictureAxis::of(picture_axis(captured));
  Fields fields{.kind = picture_kind(captured), .grid = axis.grid, .side = patch_side(run.engine)};
  fields.patch = run.args.has("at") ? patch_at(run.input, run.args["at"])
                                    : axis.grid.rows / 2 * axis.grid.cols + axis.grid.cols / 2;
  const LayerRecords layers = layers_of(captured, fields.kind);
  for (const int64_t depth : shown_depths(static_cast<int64_t>(layers.size()))) {
    const std::vector<double> row =
        rollout(std::span(layers).first(static_cast<size_t>(depth)), axis.specials + fields.patch);
    const auto patches = axis.patches_of(row);
    fields.depths.push_back({.layers = depth,
                             .weights = {patches.begin(), patches.end()},
                             .field = receptive_field(axis, row, fields.patch)});
  }
  return fields;
}

std::string radii(const Fields& fields, double ReceptiveField::*radius) {
  std::string text;
  for (const Depth& depth : fields.depths) {
    text += fmt::format("{}{:.0f}", text.empty() ? "" : ", ", fields.pixels(depth.field.*radius));
  }
  return text;
}

std::string field_caption(const Fields& fields) {
  return fmt::format(
      "Row: what reaches patch {},{} · rollout of layer 0, of layers 0 and 1, and so on: half the "
      "mean of all heads, half the residual · sum {:.2f} on patches after all layers · radius that "
      "holds 50 %: {} pixels of the model's input; 90 %: {} · the patch's own weight, {:.2f} to "
      "{:.2f}, is off the scale",
      fields.grid.row_of(fields.patch), fields.grid.col_of(fields.patch),
      fields.depths.back().field.grid_mass, radii(fields, &ReceptiveField::radius50),
      radii(fields, &ReceptiveField::radius90),
      fields.depths.back().weights[static_cast<size_t>(fields.patch)],
      fields.depths.front().weights[static_cast<size_t>(fields.patch)]);
}

ImageFigure field_figure(const ImageRun& run, const Fields& fields) {
  ImageFigure figure;
  const CellMark own{fields.grid.row_of(fields.patch), fields.grid.col_of(fields.patch)};
  figure.text.title = title_of(run.result.run, fields.kind,
                               fmt::format("what reaches patch {},{}", own.row, own.col));
  figure.text.caption = field_caption(fields) + model_note(run.engine);
  figure.text.metadata = image_metadata(run);
  figure.text.metadata.set("patch", fields.patch);
  figure.text.metadata.set("method", "rollout");
  figure.text.metadata.set("residual", RolloutOptions().residual);
  figure.picture = seen_part(run.input.picture, run.input.grid);
  figure.contour_mass = 0;
  figure.value_name = "share that reaches it";
  double largest = 0;
  for (const Depth& depth : fields.depths) {
    ImagePanel panel{
        .title =
            fmt::format("to layer {}: {:.0f} and {:.0f} px", depth.layers - 1,
                        fields.pixels(depth.field.radius50), fields.pixels(depth.field.radius90)),
        .weights = Tensor::uninitialized({fields.grid.rows, fields.grid.cols}),
        .chosen = own,
        .rings = {{own, depth.field.radius50, false}, {own, depth.field.radius90, true}}};
    float* out = panel.weights.mutable_values<float>().data();
    for (size_t i = 0; i < depth.weights.size(); ++i) {
      *out++ = static_cast<float>(depth.weights[i]);
      // All of it would outshine the others: half of what a layer passes on is the patch's own.
      if (static_cast<int64_t>(i) != fields.patch) largest = std::max(largest, depth.weights[i]);
    }
    figure.panels.push_back(std::move(panel));
  }
  figure.scale = scale_to(largest);
  figure.panels_across = fields.depths.size() < 8 ? 4 : 5;
  return figure;
}

Json field_json(const Fields& fields, const ImageFigure& figure) {
  Json json = map_json(data_of(figure));
  json.set("patch", fmt::format("patch {},{}", fields.grid.row_of(fields.patch),
                                fields.grid.col_of(fields.patch)));
  json.set("unit", "pixels of the model's input");
  Json depths = Json::array();
  for (const Depth& depth : fields.depths) {
    Json one = Json::object();
    one.set("layers", depth.layers);
    one.set("radius50", fields.pixels(depth.field.radius50));
    one.set("radius90", fields.pixels(depth.field.radius90));
    one.set("on_patches", depth.field.grid_mass);
    depths.push_back(std::move(one));
  }
  json.set("depths", std::move(depths));
  return json;
}

void check_field(const Args& args) {
  check_place(args);
}

Content make_field(const ImageRun& run) {
  const Fields fields = fields_of(run);
  const ImageFigure figure = field_figure(run, fields);
  return {figure, [figure] { return data_of(figure); },
          [figure, fields] { return field_json(fields, figure); }};
}

}  // namespace

ImageView image_field_view() {
  return {.name = "field",
          .summary = "how far a patch looks through one layer, through two, ... (rollout)",
          .options = {"at"},
          .check = check_field,
          .make = make_field};
}

}  // namespace fovea
