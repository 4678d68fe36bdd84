#include "fovea/cli/stats_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/base/version.h"
#include "fovea/render/caption.h"

namespace fovea {
namespace {

// Calls visit(layer, head, numbers) for every head.
template <typename Visit>
void for_each_head(const StatsResult& result, const Visit& visit) {
  for (int64_t layer = 0; layer < result.statistics.layers(); ++layer) {
    for (int64_t head = 0; head < result.statistics.heads(); ++head) {
      visit(layer, head, numbers_of(result.statistics.sums(layer, head)));
    }
  }
}

Axis counted_axis(const char* name, int64_t count) {
  Axis axis{.name = name};
  for (int64_t i = 0; i < count; ++i) axis.positions.push_back({.text = std::to_string(i)});
  return axis;
}

Json stats_json(const StatsResult& result, const std::string& model) {
  Json json = Json::object();
  json.set("program", fmt::format("fovea {}", version()));
  json.set("model", model);
  json.set("attention", name_of(result.kind));
  json.set("inputs", result.statistics.inputs());
  json.set("left_out", result.left_out);
  json.set("layers", result.statistics.layers());
  json.set("heads_per_layer", result.statistics.heads());
  Json heads = Json::array();
  for_each_head(result, [&](int64_t layer, int64_t head, const HeadNumbers& numbers) {
    Json one = Json::object();
    one.set("layer", layer);
    one.set("head", head);
    one.set("type", head_type(numbers));
    for (const HeadMetric& metric : head_metrics()) {
      one.set(std::string(metric.name), numbers.*metric.number);
    }
    one.set("offset", numbers.offset);
    heads.push_back(std::move(one));
  });
  json.set("heads", std::move(heads));
  return json;
}

// [numbers, layers, heads].
MapData stats_data(const StatsResult& result, const FigureText& text) {
  const int64_t layers = result.statistics.layers(), heads = result.statistics.heads();
  MapData data{
      .rows = counted_axis("layers", layers), .cols = counted_axis("heads", heads), .text = text};
  const auto count = static_cast<int64_t>(head_metrics().size());
  data.weights = Tensor::uninitialized({count, layers, heads});
  float* out = data.weights.mutable_values<float>().data();
  for (const HeadMetric& metric : head_metrics()) {
    data.panels.emplace_back(metric.name);
    for_each_head(result, [&](int64_t, int64_t, const HeadNumbers& numbers) {
      *out++ = static_cast<float>(numbers.*metric.number);
    });
  }
  return data;
}

}  // namespace

Content stats_content(const StatsResult& result, const std::string& model,
                      const HeadMetric& metric) {
  const int64_t layers = result.statistics.layers(), heads = result.statistics.heads();
  MatrixFigure figure;
  figure.rows = counted_axis("layers", layers);
  figure.cols = counted_axis("heads", heads);
  figure.row_title = "layer";
  figure.col_title = "head";
  figure.value_name = fmt::format("{}: {}", metric.name, metric.help);
  figure.weights = Tensor::uninitialized({layers, heads});
  float* out = figure.weights.mutable_values<float>().data();
  double most = 0;
  for_each_head(result, [&](int64_t, int64_t, const HeadNumbers& numbers) {
    *out++ = static_cast<float>(numbers.*metric.number);
    most = std::max(most, numbers.*metric.number);
  });
  figure.scale.high = most > 0 ? most : 1;
  figure.text.title = fmt::format("{} · {} of every head",
                                  std::filesystem::path(model).filename().string(), metric.name);
  figure.text.caption =
      fmt::format("{} of {}, mean over the rows of {} inputs · {} · layers down, heads across",
                  metric.name, name_of(result.kind), result.statistics.inputs(), metric.help);
  Json metadata = Json::object();
  metadata.set("version", version());
  metadata.set("model", model);
  metadata.set("statistic", metric.name);
  metadata.set("inputs", result.statistics.inputs());
  figure.text.metadata = std::move(metadata);
  const FigureText text = figure.text;
  return {std::move(figure), [result, text] { return stats_data(result, text); },
          [result, model] { return stats_json(result, model); }};
}

std::string typed_heads_text(const StatsResult& result, const Terminal& terminal) {
  std::string text;
  int64_t mixed = 0;
  for_each_head(result, [&](int64_t layer, int64_t head, const HeadNumbers& numbers) {
    const std::string type = head_type(numbers);
    if (type == "mixed") {
      ++mixed;
      return;
    }
    text += fmt::format(
        "{} {:<16} {}\n", terminal.dim(fmt::format("layer {:>2} head {:>2}", layer, head)), type,
        terminal.dim(fmt::format("entropy {:.2f}  confidence {:.2f}  distance {:.1f}  sink {:.2f}",
                                 numbers.entropy, numbers.confidence, numbers.distance,
                                 numbers.sink)));
  });
  return text + terminal.dim(fmt::format("{} heads of no kind that stands out\n\n", mixed));
}

std::string stats_csv(const StatsResult& result) {
  std::string text = "layer,head,type";
  for (const HeadMetric& metric : head_metrics()) text += fmt::format(",{}", metric.name);
  text += ",offset\n";
  for_each_head(result, [&](int64_t layer, int64_t head, const HeadNumbers& numbers) {
    text += fmt::format("{},{},{}", layer, head, head_type(numbers));
    for (const HeadMetric& metric : head_metrics()) {
      text += fmt::format(",{:.9g}", numbers.*metric.number);
    }
    text += fmt::format(",{}\n", numbers.offset);
  });
  return text;
}

}  // namespace fovea
