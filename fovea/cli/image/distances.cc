// How far each head of each layer looks.
#include <fmt/format.h>

#include <cmath>

#include "fovea/cli/image/parts.h"
#include "fovea/cli/model_options.h"
#include "fovea/explain/pictures/attention_distance.h"
#include "fovea/explain/rollout.h"
#include "fovea/render/caption.h"
#include "fovea/render/picture_view.h"

namespace fovea {
namespace {

// Of attention that is the same everywhere, in patches.
double even_distance(GridShape grid) {
  double sum = 0;
  for (int64_t down = -grid.rows + 1; down < grid.rows; ++down) {
    for (int64_t right = -grid.cols + 1; right < grid.cols; ++right) {
      const auto pairs =
          static_cast<double>((grid.rows - std::abs(down)) * (grid.cols - std::abs(right)));
      sum += pairs * std::hypot(static_cast<double>(down), static_cast<double>(right));
    }
  }
  return sum / std::pow(static_cast<double>(grid.patches()), 2);
}

DistanceForm form_of(const Args& args) {
  return args.has("compat") ? DistanceForm::kKeras : DistanceForm::kRenormalised;
}

std::string distances_caption(const DotsFigure& figure, DistanceForm form, int64_t side) {
  std::string text = fmt::format(
      "Rows attend to columns · layers 0 to {}, {} heads · mean over patches of softmax weight "
      "times "
      "distance, in pixels of the model's input, {} to a patch",
      figure.groups.size() - 1, figure.series.size(), side);
  return text + (form == DistanceForm::kKeras
                     ? " · not divided by what lies on patches, as a widely copied Keras program: "
                       "what special tokens receive counts as no distance"
                     : " · each row divided by what it gives to patches");
}

DotsFigure distances_figure(const ImageRun& run) {
  const Run& captured = run.result.run;
  const SiteKind kind = picture_kind(captured);
  const PictureAxis axis = PictureAxis::of(picture_axis(captured));
  const DistanceForm form = form_of(run.args);
  const int64_t side = patch_side(run.engine);
  const LayerRecords layers = layers_of(captured, kind);
  const Matrix distances = attention_distances(layers, axis, static_cast<double>(side), form);
  DotsFigure figure{.group_name = "layer", .value_name = "mean attention distance, pixels"};
  figure.values = Tensor::uninitialized({distances.rows(), distances.cols()});
  float* out = figure.values.mutable_values<float>().data();
  for (const double distance : distances.values()) *out++ = static_cast<float>(distance);
  for (const auto& record : layers) figure.groups.push_back(std::to_string(record->site.layer));
  for (int64_t head = 0; head < distances.cols(); ++head) {
    figure.series.push_back(fmt::format("head {}", head));
  }
  figure.text.metadata = image_metadata(run);
  figure.text.metadata.set("patch_size", side);
  if (form == DistanceForm::kKeras) {
    figure.text.metadata.set("compat", "keras");
  } else {
    figure.reference = static_cast<double>(side) * even_distance(axis.grid);
    figure.reference_name = fmt::format("attention spread evenly: {:.0f}", *figure.reference);
    figure.text.metadata.set("even", *figure.reference);
  }
  figure.text.title = title_of(captured, kind, "how far each head looks");
  figure.text.caption = distances_caption(figure, form, side) + model_note(run.engine);
  return figure;
}

MapData distances_data(const DotsFigure& figure) {
  return {.weights = figure.values,
          .panels = {},
          .rows = numbered_axis("layers", figure.values.size(0)),
          .cols = numbered_axis("heads", figure.values.size(1)),
          .text = figure.text};
}

Json distances_json(const DotsFigure& figure) {
  Json json = Json::object();
  json.set("title", figure.text.title);
  json.set("caption", figure.text.caption);
  json.set("map", figure.text.metadata);
  Json layers = Json::array();
  const auto values = figure.values.matrix<float>();
  for (int64_t layer = 0; layer < values.rows; ++layer) {
    Json heads = Json::array();
    for (int64_t head = 0; head < values.cols; ++head) heads.push_back(double{values(layer, head)});
    layers.push_back(std::move(heads));
  }
  json.set("unit", "pixels of the model's input");
  json.set("distances", std::move(layers));
  if (figure.reference) json.set("even", *figure.reference);
  return json;
}

void check_distances(const Args&) {}

Content make_distances(const ImageRun& run) {
  const DotsFigure figure = distances_figure(run);
  return {figure, [figure] { return distances_data(figure); },
          [figure] { return distances_json(figure); }};
}

}  // namespace

ImageView image_distances_view() {
  return {.name = "distances",
          .summary = "how far each head of each layer looks, on average",
          .options = {"compat"},
          .check = check_distances,
          .make = make_distances};
}

}  // namespace fovea
