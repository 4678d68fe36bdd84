#include "fovea/figure/picture_layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "fovea/explain/pictures/picture_axis.h"
#include "fovea/explain/rollout.h"
#include "fovea/figure/caption.h"
#include "fovea/figure/contour.h"
#include "fovea/figure/view_frame.h"
#include "fovea/vision/seen_part.h"

namespace fovea {
namespace {

constexpr int64_t kMostPanels = 12;  // more layers are shown in steps

std::string composite_caption(const Composite& composite) {
  const PatchMaps& maps = composite.maps;
  std::string text = fmt::format("Row: what {} attends to", maps.query);
  if (maps.site.kind != SiteKind::kPool) text += fmt::format(" · layer {}", maps.site.layer);
  return text + fmt::format(
                    ", {} heads · each head's mask: the fewest patches that hold {:g} % of "
                    "its weight on patches · a patch has the colour of the head that gives "
                    "it the largest part of its own sum · shares are of all patches",
                    maps.heads, 100 * composite.share);
}

// All, or some that are evenly apart; the last always.
std::set<int64_t> shown_depths(int64_t layers) {
  const int64_t count = std::min(layers, kMostPanels);
  std::set<int64_t> depths;
  for (int64_t i = 1; i <= count; ++i) depths.insert((i * layers + count / 2) / count);
  depths.insert(layers);
  return depths;
}

std::string radii(const PatchFields& fields, double ReceptiveField::*radius) {
  std::string text;
  for (const FieldDepth& depth : fields.depths) {
    text += fmt::format("{}{:.0f}", text.empty() ? "" : ", ", fields.pixels(depth.field.*radius));
  }
  return text;
}

std::string field_caption(const PatchFields& fields) {
  return fmt::format(
      "Row: what reaches patch {},{} · rollout of layer 0, of layers 0 and 1, and so on: half the "
      "mean of all heads, half the residual · sum {:.2f} on patches after all layers · radius that "
      "holds 50 %: {} pixels of the model's input; 90 %: {}",
      fields.place().row, fields.place().col, fields.depths.back().field.grid_mass,
      radii(fields, &ReceptiveField::radius50), radii(fields, &ReceptiveField::radius90));
}

}  // namespace

double Composite::owned(size_t head) const {
  return static_cast<double>(std::ranges::count(masks.strongest, static_cast<int64_t>(head))) /
         static_cast<double>(masks.strongest.size());
}

double Composite::covered(size_t head) const {
  return static_cast<double>(masks.heads[head].count()) /
         static_cast<double>(masks.strongest.size());
}

Composite composite_of(const Run& run, const PictureChoice& choice, double share) {
  Composite composite{.maps = patch_maps(run, choice), .share = share};
  const GridShape grid{composite.maps.grid_rows, composite.maps.grid_cols};
  Matrix weights(static_cast<int64_t>(composite.maps.maps.size()), grid.patches());
  for (size_t head = 0; head < composite.maps.maps.size(); ++head) {
    std::ranges::copy(composite.maps.maps[head].weights,
                      weights.row(static_cast<int64_t>(head)).begin());
  }
  composite.masks = head_masks(grid, weights, share);
  return composite;
}

CompositeFigure composite_figure(const Run& run, const Composite& composite, const Picture& picture,
                                 const PatchGrid& grid) {
  const PatchMaps& maps = composite.maps;
  CompositeFigure figure;
  figure.text.title =
      title_of(run, maps.site.kind, fmt::format("what {} looks at, by head", maps.query));
  figure.text.caption = composite_caption(composite) + model_note(run);
  figure.text.metadata = picture_metadata(run);
  figure.text.metadata.set("site", to_string(maps.site));
  figure.text.metadata.set("query", maps.query);
  figure.text.metadata.set("mask", composite.share);
  figure.picture = seen_part(picture, grid);
  figure.owners = Tensor::uninitialized({maps.grid_rows, maps.grid_cols});
  float* out = figure.owners.mutable_values<float>().data();
  for (const int64_t owner : composite.masks.strongest) {
    *out++ = owner < 0 ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(owner);
  }
  for (size_t head = 0; head < maps.maps.size(); ++head) {
    figure.names.push_back({.name = maps.maps[head].title,
                            .detail = fmt::format("{:.0f} %", 100 * composite.owned(head)),
                            .mark = std::to_string(head)});
  }
  return figure;
}

MassMasks find_mass_masks(const Run& run, std::optional<int64_t> layer, double share) {
  PictureChoice choice{.layer = layer, .mask = share};
  MassMasks masks;
  for (PatchMap& map : patch_maps(run, choice).maps) masks.heads.push_back(std::move(*map.mask));
  choice.head.kind = HeadChoice::Kind::kMean;
  masks.mean = std::move(*patch_maps(run, choice).maps.front().mask);
  return masks;
}

PatchFields patch_fields(const Run& run, std::optional<int64_t> patch, int64_t side) {
  const PictureAxis axis = PictureAxis::of(picture_axis(run));
  PatchFields fields{.kind = picture_kind(run), .grid = axis.grid, .side = side};
  fields.patch = patch.value_or(axis.grid.rows / 2 * axis.grid.cols + axis.grid.cols / 2);
  const LayerRecords layers = layers_of(run, fields.kind);
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

ImageFigure field_figure(const Run& run, const PatchFields& fields, const Picture& picture,
                         const PatchGrid& grid) {
  ImageFigure figure;
  const CellMark own = fields.place();
  figure.text.title =
      title_of(run, fields.kind, fmt::format("what reaches patch {},{}", own.row, own.col));
  figure.text.metadata = picture_metadata(run);
  figure.text.metadata.set("patch", fields.patch);
  figure.text.metadata.set("method", "rollout");
  figure.text.metadata.set("residual", RolloutOptions().residual);
  figure.picture = seen_part(picture, grid);
  figure.value_name = "share that reaches it, times even";
  const double positions = static_cast<double>(picture_axis(run).positions.size());
  double largest = 0;
  for (const FieldDepth& depth : fields.depths) {
    ImagePanel panel{.title = fmt::format("to layer {}", depth.layers - 1),
                     .weights = Tensor::uninitialized({fields.grid.rows, fields.grid.cols}),
                     .chosen = own};
    float* out = panel.weights.mutable_values<float>().data();
    for (const double weight : depth.weights) {
      *out++ = static_cast<float>(weight * positions);
      largest = std::max(largest, weight * positions);
    }
    panel.note = mass_note(panel.weights.matrix<float>());
    figure.panels.push_back(std::move(panel));
  }
  figure.scale = even_scale(largest);
  figure.text.caption =
      field_caption(fields) + even_note(figure.scale, largest) + seen_note(grid) + model_note(run);
  figure.panels_across = fields.depths.size() < 8 ? 4 : 5;
  return figure;
}

}  // namespace fovea
