// Rows and columns of maps laid over their picture, head by head.
#include <fmt/format.h>

#include "fovea/base/error.h"
#include "fovea/cli/image/object.h"
#include "fovea/cli/image/parts.h"
#include "fovea/cli/model_options.h"
#include "fovea/cli/picture_options.h"
#include "fovea/engine/patch_pixels.h"
#include "fovea/render/picture_view.h"

namespace fovea {
namespace {

PictureChoice picture_choice(const Args& args) {
  PictureChoice choice;
  choice.layer = one_layer(args);
  if (args.has("head")) choice.head = parse_head(args["head"]);
  choice.column = args.flag("column");
  choice.mask = mask_share(args, 0);
  if (args.has("token")) choice.token = args["token"];
  return choice;
}

MapData maps_data(const PatchMaps& maps, const FigureText& text) {
  const auto count = static_cast<int64_t>(maps.maps.size());
  MapData data{.rows = numbered_axis("grid rows", maps.grid_rows),
               .cols = numbered_axis("grid columns", maps.grid_cols),
               .text = text};
  data.weights = Tensor::uninitialized({count, maps.grid_rows, maps.grid_cols});
  float* out = data.weights.mutable_values<float>().data();
  for (const PatchMap& map : maps.maps) {
    data.panels.push_back(map.title);
    for (const double weight : map.weights) *out++ = static_cast<float>(weight);
  }
  return data;
}

Json maps_json(const PatchMaps& maps, PictureSize picture, const PatchGrid& grid,
               const MapData& data) {
  Json json = map_json(data);
  json.set("query", maps.query);
  json.set("site", to_string(maps.site));
  Json size = Json::array();
  size.push_back(picture.width);
  size.push_back(picture.height);
  json.set("picture", std::move(size));
  Json sums = Json::array(), on_patches = Json::array();
  Json masks = Json::array(), boxes = Json::array(), runs = Json::array();
  for (const PatchMap& map : maps.maps) {
    sums.push_back(map.sum);
    on_patches.push_back(map.on_patches);
    if (!map.mask) continue;
    Json mask = Json::array();
    for (const uint8_t in : map.mask->cells) mask.push_back(int64_t{in});
    masks.push_back(std::move(mask));
    runs.push_back(rle_json(pixel_mask(grid, *map.mask)));
    boxes.push_back(box_json(pixel_box(grid, box_of(largest_component(*map.mask)))));
  }
  json.set("sums", std::move(sums));
  json.set("on_patches", std::move(on_patches));
  json.set("masks", std::move(masks));
  json.set("rle", std::move(runs));
  json.set("boxes_xyxy", std::move(boxes));
  if (!data.text.badge.empty()) json.set("badge", data.text.badge);
  return json;
}

void check_patch_maps(const Args& args) {
  const PictureChoice choice = picture_choice(args);
  check_place(args);
  if (args.has("mask-out") && choice.mask == 0) {
    fail(ErrorKind::kInvalidArgument,
         "--mask-out is given but no mask is made; say its share with --mask 0.6, or take --view "
         "lost");
  }
  if (args.has("mask-out") && choice.head.kind == HeadChoice::Kind::kAll) {
    fail(ErrorKind::kInvalidArgument,
         "--mask-out holds one mask but every head has its own; choose by --head N, mean or max");
  }
  if (args.flag("without-artifacts") && args.flag("column")) {
    fail(ErrorKind::kInvalidArgument,
         "--without-artifacts renormalises what one position attends to; leave out --column");
  }
}

Content make_maps(const ImageRun& run) {
  PictureChoice choice = picture_choice(run.args);
  if (run.args.has("at")) choice.patch = patch_at(run.input, run.args["at"]);
  if (run.args.flag("without-artifacts")) {
    if (!run.artifacts) {
      fail(ErrorKind::kUnsupported,
           "--without-artifacts needs the states before the final norm, "
           "which this model does not give; leave it out");
    }
    choice.without = run.artifacts->outliers;
  }
  return maps_content(run.result.run, choice, run.input.picture, run.input.grid);
}

}  // namespace

Content maps_content(const Run& run, const PictureChoice& choice, const Picture& picture,
                     const PatchGrid& grid) {
  const PatchMaps maps = patch_maps(run, choice);
  ImageFigure figure = picture_view(run, maps, choice, picture, grid);
  figure.text.caption += model_note(run);
  const auto data = [maps, text = figure.text] { return maps_data(maps, text); };
  const auto json = [maps, data, grid, size = picture.size()] {
    return maps_json(maps, size, grid, data());
  };
  Content content{std::move(figure), data, json};
  if (choice.mask > 0) {
    content.labels = [maps, grid] { return pixel_mask(grid, *maps.maps.front().mask); };
  }
  return content;
}

ImageView image_maps_view() {
  return {.name = "maps",
          .summary = "what one position attends to, in each head",
          .options = {"at", "token", "column", "layer", "head", "mask", "mask-out",
                      "without-artifacts"},
          .check = check_patch_maps,
          .make = make_maps};
}

}  // namespace fovea
