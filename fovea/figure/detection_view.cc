#include "fovea/figure/detection_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>

#include "fovea/base/version.h"
#include "fovea/figure/caption.h"
#include "fovea/figure/contour.h"
#include "fovea/figure/picture_view.h"
#include "fovea/vision/resize.h"

namespace fovea {
namespace {

constexpr Rgb kOutside{216, 216, 221};
constexpr int64_t kLongestObjects = 1280;
constexpr int64_t kLongestMap = 640;

Picture picture_under(const DetectionScene& scene) {
  const PictureSize extent = scene.grid.filled_size();
  if (extent == scene.picture.size()) return scene.picture;
  Picture padded(extent.width, extent.height, kOutside);
  for (int64_t y = 0; y < scene.picture.height; ++y) {
    std::copy_n(scene.picture.row(y), scene.picture.width * 3, padded.row(y));
  }
  return padded;
}

// "scenes-detr · 3 objects".
std::string objects_title(const DetectionScene& scene, std::string_view before) {
  return fmt::format("{} · {}{} object{}",
                     std::filesystem::path(scene.run.model).filename().string(), before,
                     scene.objects.size(), scene.objects.size() == 1 ? "" : "s");
}

// "1 cat 0.98" on its box, in its colour, as fractions of what the figure shows.
ImageBox object_box(const DetectionScene& scene, const DetectedObject& object) {
  const PictureSize extent = scene.grid.filled_size();
  const auto width = static_cast<double>(extent.width);
  const auto height = static_cast<double>(extent.height);
  return {.left = object.box.left / width,
          .top = object.box.top / height,
          .right = object.box.right / width,
          .bottom = object.box.bottom / height,
          .label = fmt::format("{} {} {:.2f}", object.number, object.name, object.score),
          .color = object.number - 1};
}

// The mask at the size of the figure, which is what can be seen of it.
ImageMask shown_mask(const DetectionScene& scene, const PixelMask& mask, const Picture& shown,
                     int64_t color) {
  const PicturePoint cover = scene.grid.cover();
  const double reach_x = static_cast<double>(scene.grid.columns()) / cover.x;
  const double reach_y = static_cast<double>(scene.grid.rows()) / cover.y;
  ImageMask result{.rows = shown.height, .cols = shown.width, .color = color};
  result.cells.resize(static_cast<size_t>(shown.width * shown.height));
  for (int64_t y = 0; y < shown.height; ++y) {
    const auto row = static_cast<int64_t>((double(y) + 0.5) / double(shown.height) * reach_y *
                                          double(mask.height));
    for (int64_t x = 0; x < shown.width; ++x) {
      const auto col = static_cast<int64_t>((double(x) + 0.5) / double(shown.width) * reach_x *
                                            double(mask.width));
      if (row >= mask.height || col >= mask.width) continue;
      result.cells[static_cast<size_t>(y * shown.width + x)] =
          mask.pixels[static_cast<size_t>(row * mask.width + col)];
    }
  }
  return result;
}

// One panel: which row or column, in which heads.
struct MapLine {
  std::string title;
  int64_t index = 0;
  HeadChoice head;
};

double uniform_sum(const AttentionRecord& record) {
  const AttentionShape shape = record.shape();
  const auto& valid = record.rule.mask.key_valid;
  const int64_t keys = valid.empty() ? shape.cols : shape.cols - std::ranges::count(valid, 0);
  return static_cast<double>(shape.rows) / static_cast<double>(std::max<int64_t>(keys, 1));
}

// One row or column, in every head or in those that are chosen.
std::vector<MapLine> lines_of_heads(const AttentionRecord& record, HeadChoice head, int64_t index) {
  const int64_t heads = record.shape().heads;
  std::vector<MapLine> lines;
  for (const HeadChoice& each : maps_meant(head, record)) {
    lines.push_back({heads_text(each, heads), index, each});
  }
  return lines;
}

// The panels of all lines on one scale. `seen`: whose they are for the title; `what`: for the
// caption.
LineMaps line_maps(const DetectionScene& scene, const RecordPointer& record,
                   const std::vector<MapLine>& lines, bool column, std::string_view seen,
                   std::string_view what, const MapDrawing& drawing) {
  LineMaps maps{.figure = scene_figure(scene, kLongestMap),
                .column = column,
                .uniform = uniform_sum(*record)};
  std::vector<float> all;
  for (const MapLine& line : lines) {
    const std::vector<double> weights = line_of(record, line.index, line.head, column);
    maps.sums.push_back(std::accumulate(weights.begin(), weights.end(), 0.0));
    const std::vector<double> drawn =
        drawing.of == MapValue::kWeight
            ? weights
            : line_of(record, line.index, line.head, column, drawing.of);
    all.insert(all.end(), drawn.begin(), drawn.end());
    ImagePanel panel = map_panel(scene, line.title, drawn);
    if (drawing.of != MapValue::kScore) {
      panel.note = mass_note(map_panel(scene, "", weights).weights.matrix<float>());
    }
    maps.figure.panels.push_back(std::move(panel));
    maps.weights.push_back(weights);
  }
  std::string note;  // on the colours
  if (drawing.is_plain()) {
    maps.figure.scale = visible_scale(std::move(all), note);
  } else {
    maps.figure.scale = scale_of(drawing, all);
    note = colors_note(drawing, maps.figure.scale, all);
  }
  maps.figure.value_name = value_name(drawing.of);
  if (drawing.of == MapValue::kScore) maps.figure.contour_mass = 0;  // scores have no mass
  maps.figure.panels_across = lines.size() <= 3 ? static_cast<int64_t>(lines.size()) + 1 : 4;
  maps.figure.text.title = title_of(scene.run, record->site.kind, seen);
  const bool same = std::ranges::all_of(
      lines, [&](const MapLine& line) { return line.head == lines.front().head; });
  const std::string sums =
      " · sum " + sum_text(maps.sums) +
      (column ? fmt::format(", where uniform attention gives {:.2f}", maps.uniform) : "");
  const bool counts_weights = drawing.of == MapValue::kWeight || drawing.of == MapValue::kTimesEven;
  maps.figure.text.caption =
      fmt::format("{} · layer {}, {} · {} over cells{}{}{}", what, record->site.layer,
                  heads_text(same ? lines.front().head : HeadChoice{.kind = HeadChoice::Kind::kAll},
                             record->shape().heads),
                  meaning_of(drawing.of), counts_weights ? sums : "", note,
                  seen_note(scene.grid) + model_note(scene.run));
  return maps;
}

// `query`: whose lines they are, for programs.
LineMaps with_metadata(const DetectionScene& scene, SiteId site, LineMaps maps, std::string query) {
  Json metadata = scene_metadata(scene, site);
  metadata.set("query", query);
  metadata.set("direction", maps.column ? "column" : "row");
  maps.figure.text.metadata = std::move(metadata);
  maps.query = std::move(query);
  return maps;
}

}  // namespace

CellMark DetectionScene::mark_of(int64_t cell) const {
  return {cells().row_of(cell), cells().col_of(cell)};
}

std::string DetectionScene::cell_name(int64_t cell) const {
  const CellMark mark = mark_of(cell);
  return fmt::format("cell {},{}", mark.row, mark.col);
}

int64_t DetectionScene::centre_cell(const DetectedObject& object) const {
  const auto middle = [](double from, double to, int64_t size) {
    return std::clamp<int64_t>(static_cast<int64_t>((from + to) / 2), 0, size - 1);
  };
  // A pixel of the picture, all of which lies under the cells.
  return grid
      .patch_of_pixel(middle(object.box.left, object.box.right, picture.width),
                      middle(object.box.top, object.box.bottom, picture.height))
      .value();
}

Json objects_json(const DetectionScene& scene) {
  Json json =
      Json::object({{"model", scene.run.model},
                    {"picture", Json(Json::Array{scene.picture.width, scene.picture.height})},
                    {"threshold", scene.threshold}});
  Json objects = Json::array();
  for (const DetectedObject& object : scene.objects) {
    objects.push_back(Json::object(
        {{"object", object.number},
         {"query", object.query},
         {"label", object.name},
         {"label_id", object.label},
         {"score", object.score},
         {"box_xyxy", Json::array_of(std::vector<double>{object.box.left, object.box.top,
                                                         object.box.right, object.box.bottom})}}));
  }
  json.set("objects", std::move(objects));
  return json;
}

Json scene_metadata(const DetectionScene& scene, SiteId site) {
  return Json::object({{"version", version()},
                       {"model", scene.run.model},
                       {"model_hash", scene.run.model_hash},
                       {"site", to_string(site)},
                       {"grid_rows", scene.grid.rows()},
                       {"grid_cols", scene.grid.columns()},
                       {"threshold", scene.threshold}});
}

ColorScale visible_scale(std::vector<float> weights, std::string& note) {
  constexpr size_t kLarge = 10'000;
  std::erase_if(weights, [](float weight) { return std::isnan(weight); });
  const double largest = largest_of(weights);
  if (weights.size() < kLarge) return scale_to(largest);
  const auto cut = weights.end() - static_cast<ptrdiff_t>(weights.size() / 500);
  std::nth_element(weights.begin(), cut, weights.end());
  const double high = *cut;
  if (!(high > 0 && high < largest / 2)) return scale_to(largest);
  note = fmt::format(" · colours end at {:.2g}, the largest weight is {:.2g}", high, largest);
  return {0, high};
}

ImageFigure scene_figure(const DetectionScene& scene, int64_t longest) {
  ImageFigure figure;
  figure.grid_name = "cells";
  figure.picture = picture_under(scene);
  const int64_t side = std::max(figure.picture.width, figure.picture.height);
  if (side > longest) {
    figure.picture = resize(figure.picture,
                            {std::max<int64_t>(1, figure.picture.width * longest / side),
                             std::max<int64_t>(1, figure.picture.height * longest / side)},
                            ResizeFilter::kBicubic, ResizeRule::kPillow);
  }
  return figure;
}

ImagePanel map_panel(const DetectionScene& scene, std::string title,
                     const std::vector<double>& weights) {
  const std::vector<float> values(weights.begin(), weights.end());
  return {.title = std::move(title),
          .weights = Tensor::from({scene.grid.rows(), scene.grid.columns()}, values)};
}

TableFigure objects_table(const DetectionScene& scene) {
  TableFigure table{.label_name = "object",
                    .columns = {{.name = "label", .words = true},
                                {.name = "score"},
                                {.name = "box", .words = true},
                                {.name = "query"}}};
  table.text.title = fmt::format("{} object{} with a score above {:g}", scene.objects.size(),
                                 scene.objects.size() == 1 ? "" : "s", scene.threshold);
  for (const DetectedObject& object : scene.objects) {
    const PictureBox& box = object.box;
    table.rows.push_back(
        {.label = std::to_string(object.number),
         .cells = {{.text = object.name},
                   {.text = fmt::format("{:.3f}", object.score)},
                   {.text = fmt::format("{:.0f},{:.0f} to {:.0f},{:.0f}", box.left, box.top,
                                        box.right, box.bottom),
                    .tone = TableTone::kMuted},
                   {.text = std::to_string(object.query), .tone = TableTone::kMuted}}});
  }
  return table;
}

ImageFigure objects_figure(const DetectionScene& scene) {
  ImageFigure figure = scene_figure(scene, kLongestObjects);
  figure.layout = ImageLayout::kPanels;
  figure.text.title = objects_title(scene, "");
  figure.text.caption = fmt::format(
      "Boxes of object queries · the number is the probability of the class, above "
      "{:g}{}",
      scene.threshold, model_note(scene.run));
  figure.text.metadata = objects_json(scene);
  ImagePanel panel;
  for (const DetectedObject& object : scene.objects) {
    panel.boxes.push_back(object_box(scene, object));
  }
  figure.panels.push_back(std::move(panel));
  return figure;
}

ImageFigure masks_figure(const DetectionScene& scene, const std::vector<ObjectMasks>& all,
                         std::string_view place) {
  ImageFigure figure = scene_figure(scene, kLongestMap);
  figure.layout = ImageLayout::kPanels;
  figure.panels_across = all.size() > 2 ? 3 : 2;
  for (const ObjectMasks& masks : all) {
    ImagePanel panel{.title = masks.title};
    for (size_t i = 0; i < scene.objects.size(); ++i) {
      const DetectedObject& object = scene.objects[i];
      panel.masks.push_back(shown_mask(scene, masks.objects[i], figure.picture, object.number - 1));
      panel.boxes.push_back(object_box(scene, object));
    }
    figure.panels.push_back(std::move(panel));
  }
  figure.text.title = objects_title(scene, "areas of ") + " out of attention";
  figure.text.caption = fmt::format(
      "Rows of attention over cells · {} · cut at a threshold on the grid, then blended to "
      "pixels{}",
      place, model_note(scene.run));
  figure.text.metadata = objects_json(scene);
  return figure;
}

LineMaps query_maps(const DetectionScene& scene, const RecordPointer& record, HeadChoice head,
                    std::optional<int64_t> query, const MapDrawing& drawing) {
  std::vector<MapLine> lines;
  if (query) {
    lines = lines_of_heads(*record, head, *query);
  } else {
    const HeadChoice shown = single_map(head, *record);
    for (const DetectedObject& object : scene.objects) {
      lines.push_back({fmt::format("{} {}, query {}", object.number, object.name, object.query),
                       object.query, shown});
    }
  }
  const std::string name =
      query ? fmt::format("query {}", *query) : std::string("the query of each object");
  LineMaps maps = line_maps(scene, record, lines, false, name,
                            fmt::format("Rows: what {} attends to", name), drawing);
  for (size_t i = 0; i < lines.size(); ++i) {
    for (const DetectedObject& object : scene.objects) {
      if (object.query != lines[i].index) continue;
      maps.figure.panels[i].boxes = {object_box(scene, object)};
      maps.figure.panels[i].boxes[0].label.clear();  // the title says it
    }
  }
  return with_metadata(scene, record->site, std::move(maps), name);
}

LineMaps cell_maps(const DetectionScene& scene, const RecordPointer& record, HeadChoice head,
                   int64_t cell, bool column, const MapDrawing& drawing) {
  const std::string name = scene.cell_name(cell);
  LineMaps maps = line_maps(scene, record, lines_of_heads(*record, head, cell), column,
                            fmt::format("{} {}", column ? "who looks at" : "seen from", name),
                            column ? fmt::format("Column: who attends to {}", name)
                                   : fmt::format("Row: what {} attends to", name),
                            drawing);
  for (ImagePanel& panel : maps.figure.panels) panel.chosen = scene.mark_of(cell);
  return with_metadata(scene, record->site, std::move(maps), name);
}

LineMaps point_maps(const DetectionScene& scene, const RecordPointer& record, HeadChoice head,
                    const std::vector<NamedCell>& points, bool column, const MapDrawing& drawing) {
  std::vector<MapLine> lines;
  for (const auto& [cell, name] : points) lines.push_back({name, cell, single_map(head, *record)});
  LineMaps maps = line_maps(
      scene, record, lines, column,
      fmt::format("{} {} points", column ? "who looks at" : "seen from", points.size()),
      column ? "Columns: who attends to each point" : "Rows: what each point attends to", drawing);
  maps.figure.layout = ImageLayout::kAround;
  for (size_t i = 0; i < points.size(); ++i) {
    maps.figure.panels[i].chosen = scene.mark_of(points[i].cell);
  }
  return with_metadata(scene, record->site, std::move(maps), "points");
}

}  // namespace fovea
