#include "fovea/figure/object_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/base/version.h"
#include "fovea/explain/pictures/lost.h"
#include "fovea/explain/pictures/patch_keys.h"
#include "fovea/explain/pictures/token_cut.h"
#include "fovea/figure/caption.h"
#include "fovea/figure/picture_view.h"
#include "fovea/figure/view_frame.h"
#include "fovea/vision/seen_part.h"

namespace fovea {
namespace {

constexpr double kTrustedResidual = 1e-6;  // as token_cut.h says

struct FoundKeys {
  SiteId site;
  Tensor keys;
  GridShape grid;
};

FoundKeys found_keys(const Run& run, std::optional<int64_t> layer) {
  const auto record = picture_record(run, layer);
  const PictureAxis axis = PictureAxis::of(picture_axis(run));
  return {record->site, patch_keys(*record, axis), axis.grid};
}

// `object` in its method's words, with what was found.
template <typename Found>
FoundObject with_found(FoundObject object, Found found) {
  object.seed = found.seed;
  object.foreground = std::move(found.foreground);
  object.mask = std::move(found.mask);
  object.box = found.box;
  return object;
}

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

FoundObject find_lost(const Run& run, std::optional<int64_t> layer) {
  const FoundKeys from = found_keys(run, layer);
  LostObject found = lost(from.keys, from.grid);
  FoundObject object{.method = "LOST",
                     .site = from.site,
                     .map = "similar patches",
                     .seed_rule = "whose key is similar to the fewest others",
                     .rule = "similar to the seed and to those like it",
                     .values = {found.degrees.begin(), found.degrees.end()}};
  return with_found(std::move(object), std::move(found));
}

FoundObject find_token_cut(const Run& run, std::optional<int64_t> layer) {
  const FoundKeys from = found_keys(run, layer);
  TokenCutObject found = token_cut(from.keys, from.grid);
  FoundObject object{.method = "TokenCut",
                     .site = from.site,
                     .map = "eigenvector",
                     .seed_rule = "the largest entry of the cut's eigenvector",
                     .rule = "entries above the mean",
                     .values = std::move(found.eigenvector)};
  if (found.residual > kTrustedResidual) {
    object.note = fmt::format(
        "the eigenvector is not exact (residual {:.1e}): the picture parts in no clear way",
        found.residual);
  }
  return with_found(std::move(object), std::move(found));
}

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
  Json metadata = Json::object({{"version", version()},
                                {"model", run.model},
                                {"model_hash", run.model_hash},
                                {"method", object.method},
                                {"site", to_string(object.site)},
                                {"grid_rows", shape.rows},
                                {"grid_cols", shape.cols}});
  figure.text.metadata = std::move(metadata);
  return figure;
}

MapData object_numbers(const FoundObject& object, const FigureText& text) {
  const GridShape grid = object.mask.grid;
  MapData data{.panels = {object.map, "foreground", "object"},
               .rows = numbered_axis("grid rows", grid.rows),
               .cols = numbered_axis("grid columns", grid.cols),
               .text = text};
  data.weights = Tensor::uninitialized({3, grid.rows, grid.cols});
  float* out = data.weights.mutable_values<float>().data();
  for (const double value : object.values) *out++ = static_cast<float>(value);
  for (const GridMask* mask : {&object.foreground, &object.mask}) {
    for (const uint8_t cell : mask->cells) *out++ = cell;
  }
  return data;
}

}  // namespace fovea
