// Boxes with labels and scores.
#include <fmt/format.h>

#include "fovea/cli/detect/view.h"
#include "fovea/cli/model_options.h"
#include "fovea/render/caption.h"

namespace fovea {
namespace {

constexpr int64_t kLongestObjects = 1280;

MapData boxes_data(const std::vector<DetectedObject>& objects, const FigureText& text) {
  MapData data{.rows = {.name = "objects"}, .cols = {.name = "box and score"}, .text = text};
  for (const char* name : {"left", "top", "right", "bottom", "score", "query"}) {
    data.cols.positions.push_back({.text = name});
  }
  data.weights = Tensor({static_cast<int64_t>(objects.size()), int64_t{6}});
  float* out = data.weights.mutable_values<float>().data();
  for (const DetectedObject& object : objects) {
    data.rows.positions.push_back({.text = object.name});
    for (const double value : {object.box.left, object.box.top, object.box.right, object.box.bottom,
                               object.score, double(object.query)}) {
      *out++ = static_cast<float>(value);
    }
  }
  return data;
}

Content make_objects(const DetectRun& run) {
  const GridShape grid = run.grid();
  if (run.objects.empty()) {  // there is still attention to look at
    return encoder_content(run, grid.rows / 2 * grid.cols + grid.cols / 2, false);
  }
  ImageFigure figure = picture_figure(run, kLongestObjects);
  figure.layout = ImageLayout::kPanels;
  figure.text.title =
      fmt::format("{} · {} object{}", std::filesystem::path(run.engine.name()).filename().string(),
                  run.objects.size(), run.objects.size() == 1 ? "" : "s");
  figure.text.caption = fmt::format(
      "Boxes of object queries · the number is the probability of the class, above "
      "{:g}{}",
      run.threshold, model_note(run.engine));
  figure.text.metadata = objects_json(run);
  ImagePanel panel;
  for (const DetectedObject& object : run.objects) panel.boxes.push_back(box_for(run, object));
  figure.panels.push_back(std::move(panel));
  const FigureText text = figure.text;
  return {std::move(figure), [objects = run.objects, text] { return boxes_data(objects, text); },
          [json = objects_json(run)] { return json; }};
}

}  // namespace

DetectView detect_objects_view() {
  return {.name = "objects",
          .summary = "boxes with labels and scores",
          .options = {},
          .check = [](const Args&) {},
          .make = make_objects,
          .needs_objects = true};
}

}  // namespace fovea
