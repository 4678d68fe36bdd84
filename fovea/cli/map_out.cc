#include "fovea/cli/map_out.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/version.h"
#include "fovea/io/npy.h"
#include "fovea/io/npz.h"
#include "fovea/io/safetensors.h"

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

// For programs that count on numbers: what the mask forbids has weight 0.
Tensor without_nan(const Tensor& weights) {
  Tensor filled = weights.clone();
  for (float& weight : filled.mutable_values<float>()) {
    if (std::isnan(weight)) weight = 0;
  }
  return filled;
}

Json labels_json(const Axis& axis) {
  Json labels = Json::array();
  for (const Position& position : axis.positions) labels.push_back(position.text);
  return labels;
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

void write_csv_rows(FileWriter& writer, const MapData& data, const std::string& prefix,
                    MatrixView<const float> weights) {
  for (int64_t r = 0; r < weights.rows; ++r) {
    std::string line = prefix + csv_text(data.rows.positions[static_cast<size_t>(r)].text);
    for (int64_t c = 0; c < weights.cols; ++c) {
      const float weight = weights(r, c);
      line += std::isnan(weight) ? "," : fmt::format(",{}", weight);
    }
    writer.write(line + "\n");
  }
}

void write_csv(const std::filesystem::path& path, const MapData& data) {
  write_file_atomic(path, [&](FileWriter& writer) {
    std::string heading = data.panels.empty() ? "" : "map,";
    for (const Position& position : data.cols.positions) heading += "," + csv_text(position.text);
    writer.write(heading + "\n");
    if (data.panels.empty()) {
      write_csv_rows(writer, data, "", data.weights.matrix<float>());
      return;
    }
    for (size_t p = 0; p < data.panels.size(); ++p) {
      write_csv_rows(writer, data, csv_text(data.panels[p]) + ",",
                     data.weights.matrix<float>(static_cast<int64_t>(p)));
    }
  });
}

void write_map_json(const std::filesystem::path& path, const MapData& data) {
  const std::string text = map_json(data).dump() + "\n";
  write_file_atomic(path, [&](FileWriter& writer) { writer.write(text); });
}

void write_array(const std::filesystem::path& path, const MapData& data) {
  write_npy(path, without_nan(data.weights));
}

void write_map_arrays(const std::filesystem::path& path, const MapData& data) {
  write_npz(path, std::vector<NamedTensor>{{"weights", without_nan(data.weights)}});
}

void write_tensors(const std::filesystem::path& path, const MapData& data) {
  Json about = data.text.metadata;
  if (!data.panels.empty()) about.set("panels", Json::array_of(data.panels));
  write_safetensors(path, std::vector<NamedTensor>{{"weights", without_nan(data.weights)}},
                    {{"program", fmt::format("fovea {}", version())},
                     {"caption", data.text.caption},
                     {"rows", labels_json(data.rows).dump()},
                     {"cols", labels_json(data.cols).dump()},
                     {"map", about.dump()}});
}

struct MapFormat {
  std::string_view suffix;
  void (*write)(const std::filesystem::path&, const MapData&);
};
constexpr MapFormat kFormats[] = {{".npy", write_array},
                                  {".npz", write_map_arrays},
                                  {".safetensors", write_tensors},
                                  {".json", write_map_json},
                                  {".csv", write_csv}};

const MapFormat* map_format_of(const std::filesystem::path& path) {
  const std::string suffix = lower_suffix(path);
  for (const MapFormat& format : kFormats) {
    if (suffix == format.suffix) return &format;
  }
  return nullptr;
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

Axis numbered_axis(const char* name, int64_t count) {
  Axis axis{.name = name};
  for (int64_t i = 0; i < count; ++i) axis.positions.push_back({.text = std::to_string(i)});
  return axis;
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

std::string csv_text(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char letter : text) quoted += letter == '"' ? "\"\"" : std::string(1, letter);
  return quoted + "\"";
}

Json map_json(const MapData& data) {
  Json json = Json::object();
  json.set("program", fmt::format("fovea {}", version()));
  json.set("title", data.text.title);
  json.set("caption", data.text.caption);
  json.set("map", data.text.metadata);
  json.set("rows", labels_json(data.rows));
  json.set("cols", labels_json(data.cols));
  if (data.panels.empty()) {
    json.set("weights", rows_json(data.weights.matrix<float>()));
    return json;
  }
  Json panels = Json::array();
  for (size_t p = 0; p < data.panels.size(); ++p) {
    Json panel = Json::object();
    panel.set("title", data.panels[p]);
    panel.set("weights", rows_json(data.weights.matrix<float>(static_cast<int64_t>(p))));
    panels.push_back(std::move(panel));
  }
  json.set("panels", std::move(panels));
  return json;
}

bool is_data_suffix(const std::filesystem::path& path) {
  return map_format_of(path) != nullptr;
}

std::string data_suffixes() {
  std::string text;
  for (const MapFormat& format : kFormats) {
    text += (text.empty() ? "" : ", ") + std::string(format.suffix);
  }
  return text;
}

void write_map_data(const std::filesystem::path& path, const MapData& data) {
  const MapFormat* format = map_format_of(path);
  if (format == nullptr) {
    fail(ErrorKind::kInvalidArgument, "'{}' has none of the suffixes that maps are written to: {}",
         path.string(), data_suffixes());
  }
  format->write(path, data);
}

}  // namespace fovea
