#include "fovea/cli/image/object.h"

#include "fovea/cli/image/parts.h"
#include "fovea/cli/model_options.h"
#include "fovea/engine/patch_pixels.h"
#include "fovea/explain/pictures/mask_rle.h"

namespace fovea {
namespace {

MapData object_data(const FoundObject& object, const FigureText& text) {
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

Json pair(int64_t first, int64_t second) {
  return Json(Json::Array{first, second});
}

Json object_json(const FoundObject& object, PictureSize picture, const PatchGrid& patches,
                 const MapData& data) {
  const GridShape grid = object.mask.grid;
  Json json = map_json(data);
  json.set("method", object.method);
  json.set("site", to_string(object.site));
  json.set("picture", pair(picture.width, picture.height));
  json.set("grid", pair(grid.rows, grid.cols));
  json.set("seed", pair(grid.row_of(object.seed), grid.col_of(object.seed)));
  json.set("box_xyxy", box_json(pixel_box(patches, object.box)));
  Json mask = Json::array();
  for (int64_t row = 0; row < grid.rows; ++row) {
    Json line = Json::array();
    for (int64_t col = 0; col < grid.cols; ++col) {
      line.push_back(object.mask.holds(row * grid.cols + col) ? 1 : 0);
    }
    mask.push_back(std::move(line));
  }
  json.set("mask", std::move(mask));
  json.set("rle", rle_json(pixel_mask(patches, object.mask)));
  return json;
}

}  // namespace

Json box_json(const PictureBox& box) {
  if (box.area() == 0) return {};
  return Json(Json::Array{box.left, box.top, box.right, box.bottom});
}

Json rle_json(LabelMask mask) {
  PixelMask pixels(mask.size.width, mask.size.height);
  pixels.pixels = std::move(mask.labels);
  return to_json(encode_mask(pixels));
}

Content object_content(const ImageRun& run, const FoundObject& object) {
  ImageFigure figure = object_view(run.result.run, object, run.input.picture, run.input.grid);
  figure.text.caption += model_note(run.engine);
  const auto data = [object, text = figure.text] { return object_data(object, text); };
  const auto json = [object, data, size = run.input.picture.size(), grid = run.input.grid] {
    return object_json(object, size, grid, data());
  };
  const auto labels = [object, grid = run.input.grid] { return pixel_mask(grid, object.mask); };
  return {std::move(figure), data, json, labels};
}

}  // namespace fovea
