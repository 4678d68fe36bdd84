// The masks of all heads in one picture, one colour per head.
#include <fmt/format.h>

#include <limits>

#include "fovea/cli/image/parts.h"
#include "fovea/cli/model_options.h"
#include "fovea/explain/pictures/mass_mask.h"
#include "fovea/render/caption.h"
#include "fovea/render/picture_view.h"
#include "fovea/vision/seen_part.h"

namespace fovea {
namespace {

struct Composite {
  PatchMaps maps;
  HeadMasks masks;
  double share = 0;

  // Of all patches, those where the head is the strongest.
  double owned(size_t head) const {
    int64_t count = 0;
    for (const int64_t owner : masks.strongest) count += owner == static_cast<int64_t>(head);
    return static_cast<double>(count) / static_cast<double>(masks.strongest.size());
  }
  // Of all patches, those in its mask.
  double covered(size_t head) const {
    return static_cast<double>(masks.heads[head].count()) /
           static_cast<double>(masks.strongest.size());
  }
};

Composite composite_of(const ImageRun& run) {
  PictureChoice choice{.layer = one_layer(run.args)};
  if (run.args.has("at")) choice.patch = patch_at(run.input, run.args["at"]);
  if (run.args.has("token")) choice.token = run.args["token"];
  Composite composite{.maps = patch_maps(run.result.run, choice),
                      .share = mask_share(run.args, kMassShare)};
  const GridShape grid{composite.maps.grid_rows, composite.maps.grid_cols};
  Matrix weights(static_cast<int64_t>(composite.maps.maps.size()), grid.patches());
  for (size_t head = 0; head < composite.maps.maps.size(); ++head) {
    std::ranges::copy(composite.maps.maps[head].weights,
                      weights.row(static_cast<int64_t>(head)).begin());
  }
  composite.masks = head_masks(grid, weights, composite.share);
  return composite;
}

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

CompositeFigure composite_figure(const ImageRun& run, const Composite& composite) {
  const PatchMaps& maps = composite.maps;
  CompositeFigure figure;
  figure.text.title = title_of(run.result.run, maps.site.kind,
                               fmt::format("what {} looks at, by head", maps.query));
  figure.text.caption = composite_caption(composite) + model_note(run.engine);
  figure.text.metadata = image_metadata(run);
  figure.text.metadata.set("site", to_string(maps.site));
  figure.text.metadata.set("query", maps.query);
  figure.text.metadata.set("mask", composite.share);
  figure.picture = seen_part(run.input.picture, run.input.grid);
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

MapData composite_data(const CompositeFigure& figure) {
  // -1: nobody's; 0 is a head.
  Tensor owners = figure.owners.clone();
  for (float& owner : owners.mutable_values<float>()) {
    if (!(owner >= 0)) owner = -1;
  }
  return {.weights = owners,
          .panels = {},
          .rows = numbered_axis("grid rows", owners.size(0)),
          .cols = numbered_axis("grid columns", owners.size(1)),
          .text = figure.text};
}

Json composite_json(const Composite& composite, const CompositeFigure& figure) {
  Json json = map_json(composite_data(figure));
  json.set("query", composite.maps.query);
  json.set("site", to_string(composite.maps.site));
  Json heads = Json::array();
  for (size_t head = 0; head < composite.maps.maps.size(); ++head) {
    Json one = Json::object();
    one.set("head", static_cast<int64_t>(head));
    one.set("strongest_share", composite.owned(head));
    one.set("mask_share", composite.covered(head));
    Json mask = Json::array();
    for (const uint8_t in : composite.masks.heads[head].cells) mask.push_back(int64_t{in});
    one.set("mask", std::move(mask));
    heads.push_back(std::move(one));
  }
  json.set("heads", std::move(heads));
  return json;
}

void check_composite(const Args& args) {
  one_layer(args);
  mask_share(args, kMassShare);
  check_place(args);
}

Content make_composite(const ImageRun& run) {
  const Composite composite = composite_of(run);
  const CompositeFigure figure = composite_figure(run, composite);
  return {figure, [figure] { return composite_data(figure); },
          [figure, composite] { return composite_json(composite, figure); }};
}

}  // namespace

ImageView image_composite_view() {
  return {.name = "composite",
          .summary = "the masks of all heads in one picture, one colour each",
          .options = {"at", "token", "layer", "mask"},
          .check = check_composite,
          .make = make_composite};
}

}  // namespace fovea
