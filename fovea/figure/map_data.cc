#include "fovea/figure/map_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace fovea {
namespace {

Tensor stacked_panels(const std::vector<MapPanel>& panels) {
  const Tensor& first = panels.front().weights;
  Tensor all =
      Tensor::uninitialized({static_cast<int64_t>(panels.size()), first.size(0), first.size(1)});
  auto out = all.mutable_values<float>().begin();
  for (const MapPanel& panel : panels)
    out = std::ranges::copy(panel.weights.values<float>(), out).out;
  return all;
}

std::vector<std::string> titles_of(const std::vector<MapPanel>& panels) {
  std::vector<std::string> titles;
  for (const MapPanel& panel : panels) titles.push_back(panel.title);
  return titles;
}

// "-1", "0", "+1": by how many patches.
Axis offset_axis(const char* name, int64_t radius) {
  Axis axis{.name = name};
  for (int64_t offset = -radius; offset <= radius; ++offset) {
    axis.positions.push_back({.text = offset == 0 ? "0" : fmt::format("{:+}", offset)});
  }
  return axis;
}

Json rows_json(MatrixView<const float> weights) {
  Json rows = Json::array();
  for (int64_t r = 0; r < weights.rows; ++r) {
    Json row = Json::array();
    for (int64_t c = 0; c < weights.cols; ++c) {
      const float weight = weights(r, c);
      row.push_back(std::isnan(weight) ? Json() : Json(double{weight}));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

MapData data_of(const MatrixFigure& figure) {
  return {figure.weights, {}, figure.rows, figure.cols, figure.text};
}

MapData data_of(const HeadsFigure& figure) {
  return {stacked_panels(figure.panels), titles_of(figure.panels), figure.rows, figure.cols,
          figure.text};
}

MapData data_of(const ReadFigure& figure) {
  const auto count = static_cast<int64_t>(figure.weights.size());
  const std::string name = figure.column ? "who attends to it" : "what it attends to";
  const Axis one{.name = "token", .source = "", .positions = {{.text = name}}};
  const Shape shape = figure.column ? Shape{count, 1} : Shape{1, count};
  return {Tensor::from(shape, figure.weights),
          {},
          figure.column ? figure.axis : one,
          figure.column ? one : figure.axis,
          figure.text};
}

MapData data_of(const LinesFigure& figure) {
  return {stacked_panels(figure.heads), titles_of(figure.heads), figure.rows, figure.cols,
          figure.text};
}

MapData data_of(const ImageFigure& figure) {
  const int64_t rows = figure.panels.at(0).weights.size(0);
  const int64_t cols = figure.panels.at(0).weights.size(1);
  MapData data{.rows = numbered_axis("grid rows", rows),
               .cols = numbered_axis("grid columns", cols),
               .text = figure.text};
  data.weights = Tensor::uninitialized({static_cast<int64_t>(figure.panels.size()), rows, cols});
  float* out = data.weights.mutable_values<float>().data();
  for (const ImagePanel& panel : figure.panels) {
    data.panels.push_back(panel.title);
    out = std::ranges::copy(panel.weights.values<float>(), out).out;
  }
  return data;
}

MapData patch_numbers(const ImageFigure& figure, std::span<const std::vector<double>> weights,
                      int64_t rows, int64_t cols) {
  MapData data{.rows = numbered_axis("grid rows", rows),
               .cols = numbered_axis("grid columns", cols),
               .text = figure.text};
  data.text.metadata = Json::object();
  for (const auto& [name, value] : figure.text.metadata.as_object("a figure")) {
    if (name != "of") data.text.metadata.set(name, value);
  }
  data.weights = Tensor::uninitialized({std::ssize(weights), rows, cols});
  float* out = data.weights.mutable_values<float>().data();
  for (size_t i = 0; i < weights.size(); ++i) {
    data.panels.push_back(figure.panels[i].title);
    for (const double weight : weights[i]) *out++ = static_cast<float>(weight);
  }
  return data;
}

MapData data_of(const KernelsFigure& figure) {
  const int64_t side = figure.panels.at(0).weights.size(0);
  MapData data{.rows = offset_axis("patches down", side / 2),
               .cols = offset_axis("patches right", side / 2),
               .text = figure.text};
  data.weights = Tensor::uninitialized({static_cast<int64_t>(figure.panels.size()), side, side});
  float* out = data.weights.mutable_values<float>().data();
  for (const KernelPanel& panel : figure.panels) {
    data.panels.push_back(panel.title);
    for (const float value : panel.weights.values<float>()) {
      *out++ = static_cast<float>(double{value} * figure.even);
    }
  }
  return data;
}

MapData data_of(const DotsFigure& figure) {
  return {.weights = figure.values,
          .panels = {},
          .rows = numbered_axis("layers", figure.values.size(0)),
          .cols = numbered_axis("heads", figure.values.size(1)),
          .text = figure.text};
}

MapData data_of(const CompositeFigure& figure) {
  Tensor owners = figure.owners.clone();
  for (float& owner : owners.mutable_values<float>()) {
    if (!(owner >= 0)) owner = -1;  // 0 is a head, and files of numbers write 0 for NaN
  }
  return {.weights = owners,
          .panels = {},
          .rows = numbered_axis("grid rows", owners.size(0)),
          .cols = numbered_axis("grid columns", owners.size(1)),
          .text = figure.text};
}

MapData data_of(const AlignFigure& figure) {
  return data_of(as_matrix(figure));
}

Json position_texts(const Axis& axis) {
  Json labels = Json::array();
  for (const Position& position : axis.positions) labels.push_back(position.text);
  return labels;
}

void add_numbers(Json& json, const MapData& data) {
  json.set("rows", position_texts(data.rows));
  json.set("cols", position_texts(data.cols));
  if (data.panels.empty()) {
    json.set("weights", rows_json(data.weights.matrix<float>()));
    return;
  }
  Json panels = Json::array();
  for (size_t p = 0; p < data.panels.size(); ++p) {
    Json panel = Json::object({{"title", data.panels[p]}});
    panel.set("weights", rows_json(data.weights.matrix<float>(static_cast<int64_t>(p))));
    panels.push_back(std::move(panel));
  }
  json.set("panels", std::move(panels));
}

}  // namespace fovea
