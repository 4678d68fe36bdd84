#include "fovea/render/object_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/base/version.h"
#include "fovea/render/caption.h"
#include "fovea/render/picture_view.h"
#include "fovea/render/view_frame.h"
#include "fovea/vision/seen_part.h"

namespace fovea {
namespace {

Tensor object_grid(const FoundObject& object, double shift) {
  const GridShape grid = object.mask.grid;
  Tensor tensor = Tensor::uninitialized({grid.rows, grid.cols});
  float* out = tensor.mutable_values<float>().data();
  for (const double value : object.values) *out++ = static_cast<float>(value - shift);
  return tensor;
}

ImageMask image_mask(const GridMask& mask, int64_t color) {
  return {mask.grid.rows, mask.grid.cols, mask.cells, color};
}

ImageBox image_box(const GridBox& box, GridShape grid) {
  const auto part = [](int64_t at, int64_t whole) {
    return static_cast<double>(at) / static_cast<double>(whole);
  };
  return {.left = part(box.left, grid.cols),
          .top = part(box.top, grid.rows),
          .right = part(box.right, grid.cols),
          .bottom = part(box.bottom, grid.rows)};
}

std::string object_caption(const FoundObject& object) {
  const GridShape grid = object.mask.grid;
  return fmt::format(
      "{}: one object, out of the keys alone · layer {}, all heads · seed: patch {},{}, {} · "
      "foreground: {} · object: what of it touches the seed, {} of {} patches",
      object.method, object.site.layer, grid.row_of(object.seed), grid.col_of(object.seed),
      object.seed_rule, object.rule, object.mask.count(), grid.patches());
}

}  // namespace

ImageFigure object_view(const Run& run, const FoundObject& object, const Picture& picture,
                        const PatchGrid& grid) {
  const GridShape shape = object.mask.grid;
  const auto [low, high] = std::ranges::minmax(object.values);
  const double shift = std::min(low, 0.0);
  ImageFigure figure;
  figure.picture = seen_part(picture, grid);
  figure.panels = {{.title = object.map,
                    .weights = object_grid(object, shift),
                    .chosen = CellMark{shape.row_of(object.seed), shape.col_of(object.seed)}},
                   {.title = "foreground", .masks = {image_mask(object.foreground, 1)}},
                   {.title = "object",
                    .masks = {image_mask(object.mask, 0)},
                    .boxes = {image_box(object.box, shape)}}};
  figure.scale = scale_to(high - shift);
  figure.contour_mass = 0;
  figure.value_name = shift < 0 ? object.map + " \u2212 minimum" : object.map;
  figure.text.title = title_of(run, object.site.kind, fmt::format("object by {}", object.method));
  figure.text.caption = object_caption(object);
  Json metadata = Json::object();
  metadata.set("version", version());
  metadata.set("model", run.model);
  metadata.set("model_hash", run.model_hash);
  metadata.set("method", object.method);
  metadata.set("site", to_string(object.site));
  metadata.set("grid_rows", shape.rows);
  metadata.set("grid_cols", shape.cols);
  figure.text.metadata = std::move(metadata);
  return figure;
}

}  // namespace fovea
