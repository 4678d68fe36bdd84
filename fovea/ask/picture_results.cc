#include "fovea/ask/picture_results.h"

#include "fovea/engine/patch_pixels.h"
#include "fovea/explain/pictures/mask_rle.h"
#include "fovea/figure/caption.h"

namespace fovea {

Json pair_json(int64_t first, int64_t second) {
  return Json(Json::Array{first, second});
}

Json box_json(const PictureBox& box) {
  if (box.area() == 0) return {};
  return Json(Json::Array{box.left, box.top, box.right, box.bottom});
}

Json cells_json(const GridMask& mask) {
  Json cells = Json::array();
  for (const uint8_t in : mask.cells) cells.push_back(int64_t{in});
  return cells;
}

Json rle_json(LabelMask mask) {
  PixelMask pixels(mask.size.width, mask.size.height);
  pixels.pixels = std::move(mask.labels);
  return to_json(encode_mask(pixels));
}

Json kernels_json(const std::vector<NamedKernel>& kernels) {
  Json about = Json::array();
  for (const auto& [title, kernel] : kernels) {
    about.push_back(Json::object({{"centre_down", kernel.centre_row},
                                  {"centre_right", kernel.centre_col},
                                  {"spread", kernel.spread},
                                  {"inside", kernel.inside},
                                  {"level50", kernel.level50},
                                  {"level90", kernel.level90},
                                  {"queries", kernel.queries}}));
  }
  return Json::object({{"radius", kernels[0].kernel.radius}, {"kernels", std::move(about)}});
}

Answer object_answer(const FoundObject& object, const Question& question, const FinishedRun& run) {
  const PictureSeen seen = picture_seen(run);
  ImageFigure figure = object_view(run.run(), object, *seen.picture, seen.grid);
  figure.text.caption += model_note(run.run());
  const GridShape grid = object.mask.grid;
  LabelMask labels = pixel_mask(seen.grid, object.mask);
  Json rows = Json::array();
  for (int64_t row = 0; row < grid.rows; ++row) {
    Json cells = Json::array();
    for (int64_t col = 0; col < grid.cols; ++col) {
      cells.push_back(object.mask.holds(row * grid.cols + col) ? 1 : 0);
    }
    rows.push_back(std::move(cells));
  }
  Json result =
      Json::object({{"picture", pair_json(seen.picture->width, seen.picture->height)},
                    {"grid", pair_json(grid.rows, grid.cols)},
                    {"seed", pair_json(grid.row_of(object.seed), grid.col_of(object.seed))},
                    {"box_xyxy", box_json(pixel_box(seen.grid, object.box))},
                    {"mask", std::move(rows)},
                    {"rle", rle_json(labels)}});
  Json facts = Json::object({{"site", to_string(object.site.kind)},
                             {"layer", int64_t{object.site.layer}},
                             {"head", "all"},
                             {"method", object.method}});
  const MapData numbers = object_numbers(object, figure.text);
  Answer answer =
      picture_answer(std::move(figure), std::move(facts), std::move(result), question, run);
  answer.numbers = numbers;
  answer.labels = std::move(labels);
  if (!object.note.empty()) answer.notes.push_back(object.note);
  return answer;
}

}  // namespace fovea
