// Rows and columns of maps laid over their picture, head by head.
#include <fmt/format.h>

#include "fovea/base/error.h"
#include "fovea/cli/image_object.h"
#include "fovea/cli/image_view.h"
#include "fovea/cli/model_options.h"
#include "fovea/engine/patch_pixels.h"
#include "fovea/render/picture_view.h"

namespace fovea {
namespace {

PictureChoice picture_choice(const Args& args) {
  PictureChoice choice;
  if (args.has("layer")) choice.layer = args.integer("layer");
  if (args.has("head")) choice.head = parse_head(args["head"]);
  choice.column = args.flag("column");
  if (args.has("mask")) {
    choice.mask = args.real("mask");
    if (!(choice.mask > 0 && choice.mask <= 1)) {
      fail(ErrorKind::kInvalidArgument,
           "--mask is {} but a share of the mass is above 0 and up to 1", args["mask"]);
    }
  }
  return choice;
}

int64_t patch_at(const PictureInput& input, const std::string& at) {
  const auto [x, y] = parse_pixel(at);
  const std::optional<int64_t> patch = input.grid.patch_of_pixel(x, y);
  if (patch) return *patch;
  const bool inside = x >= 0 && y >= 0 && x < input.picture.width && y < input.picture.height;
  fail(ErrorKind::kInvalidArgument, "--at is {},{} but {}", x, y,
       inside ? "the model does not see that pixel: its input is cut to the middle of the picture"
              : fmt::format("the picture has {} x {} pixels, counted from 0", input.picture.width,
                            input.picture.height));
}

MapData data_of(const PatchMaps& maps, const FigureText& text) {
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

Json to_json(const PatchMaps& maps, const PictureInput& input, const MapData& data) {
  Json json = map_json(data);
  json.set("query", maps.query);
  json.set("site", to_string(maps.site));
  Json size = Json::array();
  size.push_back(input.picture.width);
  size.push_back(input.picture.height);
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
    runs.push_back(rle_json(pixel_mask(input.grid, *map.mask)));
    boxes.push_back(box_json(pixel_box(input.grid, box_of(largest_component(*map.mask)))));
  }
  json.set("sums", std::move(sums));
  json.set("on_patches", std::move(on_patches));
  json.set("masks", std::move(masks));
  json.set("rle", std::move(runs));
  json.set("boxes_xyxy", std::move(boxes));
  return json;
}

void check_maps(const Args& args) {
  const PictureChoice choice = picture_choice(args);
  if (args.has("mask-out") && choice.mask == 0) {
    fail(ErrorKind::kInvalidArgument,
         "--mask-out is given but no mask is made; say its share with --mask 0.6, or take --view "
         "lost");
  }
  if (args.has("mask-out") && choice.head.kind == HeadChoice::Kind::kAll) {
    fail(ErrorKind::kInvalidArgument,
         "--mask-out holds one mask but every head has its own; choose by --head N, mean or max");
  }
  if (args.has("at")) parse_pixel(args["at"]);
}

Content make_maps(const ImageRun& run) {
  PictureChoice choice = picture_choice(run.args);
  if (run.args.has("at")) choice.patch = patch_at(run.input, run.args["at"]);
  const PatchMaps maps = patch_maps(run.result.run, choice);
  ImageFigure figure =
      picture_view(run.result.run, maps, choice, run.input.picture, run.input.grid);
  const auto data = [maps, text = figure.text] { return data_of(maps, text); };
  const auto json = [maps, data, &input = run.input] { return to_json(maps, input, data()); };
  const auto labels = [maps, &grid = run.input.grid] {
    return pixel_mask(grid, *maps.maps.front().mask);
  };
  return {std::move(figure), data, json, labels};
}

}  // namespace

ImageView image_maps_view() {
  return {.name = "maps",
          .summary = "what one position attends to, in each head",
          .options = {"at", "column", "layer", "head", "mask", "mask-out"},
          .check = check_maps,
          .make = make_maps};
}

}  // namespace fovea
