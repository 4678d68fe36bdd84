#include "fovea/cli/stats/view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "fovea/base/file.h"
#include "fovea/base/version.h"
#include "fovea/capture/site.h"

namespace fovea {
namespace {

constexpr std::string_view kNoType = "mixed";
constexpr size_t kMostInCaption = 6, kMostListed = 48;  // of heads of one kind

// Calls visit(layer, head, numbers) for every head.
template <typename Visit>
void for_each_head(const StatsResult& result, const Visit& visit) {
  const CorpusStatistics& statistics = result.state.statistics;
  for (int64_t layer = 0; layer < statistics.layers(); ++layer) {
    for (int64_t head = 0; head < statistics.heads(); ++head) {
      visit(layer, head, numbers_of(statistics.sums(layer, head)));
    }
  }
}

// f32 [layers, heads].
Tensor metric_grid(const StatsResult& result, const HeadMetric& metric) {
  const CorpusStatistics& statistics = result.state.statistics;
  Tensor grid = Tensor::uninitialized({statistics.layers(), statistics.heads()});
  float* out = grid.mutable_values<float>().data();
  for_each_head(result, [&](int64_t, int64_t, const HeadNumbers& numbers) {
    *out++ = static_cast<float>(numbers.*metric.number);
  });
  return grid;
}

struct HeadsOfType {
  std::string name;
  std::vector<std::string> heads;  // "layer.head"
};

// In the order of head_types(), positional heads by their offset; those of no type last.
std::vector<HeadsOfType> heads_by_type(const StatsResult& result) {
  std::vector<HeadsOfType> groups;
  for_each_head(result, [&](int64_t layer, int64_t head, const HeadNumbers& numbers) {
    const std::string name = head_type(numbers);
    auto group = std::ranges::find(groups, name, &HeadsOfType::name);
    if (group == groups.end()) group = groups.insert(groups.end(), {.name = name, .heads = {}});
    group->heads.push_back(fmt::format("{}.{}", layer, head));
  });
  const auto rank = [](const HeadsOfType& group) {
    const auto type = std::ranges::find_if(
        head_types(), [&](const HeadType& t) { return group.name.starts_with(t.name); });
    return std::pair(type - head_types().begin(), group.name);
  };
  std::ranges::sort(groups, {}, rank);
  return groups;
}

std::string stats_caption(const StatsResult& result, const HeadMetric& metric) {
  const int64_t inputs = result.state.statistics.inputs();
  return fmt::format("{}: {} · mean over the rows of {} input{} · {} · layers down, heads across",
                     metric.name, metric.help, inputs, inputs == 1 ? "" : "s",
                     name_of(result.kind));
}

// " · kinds of heads, as layer.head: previous token 1.3, 2.7; sink 0.1, 0.2 and 12 more"
std::string kinds_caption(const StatsResult& result) {
  std::string text;
  for (const HeadsOfType& group : heads_by_type(result)) {
    if (group.name == kNoType) continue;
    const size_t shown = std::min(group.heads.size(), kMostInCaption);
    text += text.empty() ? " · kinds of heads, as layer.head: " : "; ";
    text += fmt::format("{} {}", group.name, fmt::join(std::span(group.heads).first(shown), ", "));
    if (shown < group.heads.size()) text += fmt::format(" and {} more", group.heads.size() - shown);
  }
  return text;
}

Json stats_json(const StatsResult& result, const std::string& model) {
  const CorpusStatistics& statistics = result.state.statistics;
  Json json = Json::object({{"program", fmt::format("fovea {}", version())},
                            {"model", model},
                            {"attention", name_of(result.kind)},
                            {"inputs", statistics.inputs()},
                            {"left_out", result.state.left_out},
                            {"layers", statistics.layers()},
                            {"heads_per_layer", statistics.heads()}});
  Json heads = Json::array();
  for_each_head(result, [&](int64_t layer, int64_t head, const HeadNumbers& numbers) {
    Json one = Json::object({{"layer", layer}, {"head", head}, {"type", head_type(numbers)}});
    for (const HeadMetric& metric : head_metrics()) {
      one.set(std::string(metric.name), numbers.*metric.number);
    }
    one.set("offset", std::isnan(numbers.positional) ? Json() : Json(numbers.offset));
    heads.push_back(std::move(one));
  });
  json.set("heads", std::move(heads));
  return json;
}

// [numbers, layers, heads], of the numbers that were counted.
MapData stats_data(const StatsResult& result, const FigureText& text) {
  const CorpusStatistics& statistics = result.state.statistics;
  MapData data{.rows = numbered_axis("layers", statistics.layers()),
               .cols = numbered_axis("heads", statistics.heads()),
               .text = text};
  std::vector<float> values;
  for (const HeadMetric& metric : head_metrics()) {
    const Tensor grid = metric_grid(result, metric);
    const std::span<const float> numbers = grid.values<float>();
    if (std::ranges::all_of(numbers, [](float number) { return std::isnan(number); })) continue;
    data.panels.emplace_back(metric.name);
    values.insert(values.end(), numbers.begin(), numbers.end());
  }
  data.weights = Tensor::from<float>(
      {static_cast<int64_t>(data.panels.size()), statistics.layers(), statistics.heads()}, values);
  return data;
}

// One line per head and a column per number; empty where it was not counted.
std::string stats_csv(const StatsResult& result) {
  std::string text = "layer,head,type";
  for (const HeadMetric& metric : head_metrics()) text += fmt::format(",{}", metric.name);
  text += ",offset\n";
  for_each_head(result, [&](int64_t layer, int64_t head, const HeadNumbers& numbers) {
    text += fmt::format("{},{},{}", layer, head, head_type(numbers));
    for (const HeadMetric& metric : head_metrics()) {
      const double number = numbers.*metric.number;
      text += std::isnan(number) ? "," : fmt::format(",{:.9g}", number);
    }
    text += std::isnan(numbers.positional) ? ",\n" : fmt::format(",{}\n", numbers.offset);
  });
  return text;
}

}  // namespace

Content stats_content(const StatsResult& result, const std::string& model, const HeadMetric& metric,
                      bool names_kinds) {
  const CorpusStatistics& statistics = result.state.statistics;
  MatrixFigure figure;
  figure.rows = numbered_axis("layers", statistics.layers());
  figure.cols = numbered_axis("heads", statistics.heads());
  figure.row_title = "layer";
  figure.col_title = "head";
  figure.value_name = std::string(metric.name);
  figure.weights = metric_grid(result, metric);
  float most = 0;
  for (const float number : figure.weights.values<float>()) most = std::fmax(most, number);
  figure.scale.high = most > 0 ? double{most} : 1;
  figure.text.title =
      fmt::format("{} · {} · {} of every head", std::filesystem::path(model).filename().string(),
                  name_of(result.kind), metric.name);
  figure.text.caption = stats_caption(result, metric) + (names_kinds ? kinds_caption(result) : "");
  Json metadata = Json::object({{"version", version()},
                                {"model", model},
                                {"attention", name_of(result.kind)},
                                {"statistic", metric.name},
                                {"inputs", statistics.inputs()}});
  figure.text.metadata = std::move(metadata);
  const FigureText text = figure.text;
  return {.figure = std::move(figure),
          .json = [result, model] { return stats_json(result, model); },
          .write_data =
              [result, text](const std::filesystem::path& path) {
                if (lower_suffix(path) != ".csv")
                  return write_map_data(path, stats_data(result, text));
                const std::string lines = stats_csv(result);
                write_file_atomic(path, [&](FileWriter& file) { file.write(lines); });
              }};
}

TableFigure kinds_table(const StatsResult& result) {
  TableFigure table{.label_name = "kind",
                    .columns = {{.name = "heads"}, {.name = "layer.head", .words = true}}};
  for (const HeadsOfType& group : heads_by_type(result)) {
    const size_t shown = std::min(group.heads.size(), kMostListed);
    std::string names = fmt::format("{}", fmt::join(std::span(group.heads).first(shown), " "));
    if (shown < group.heads.size()) names += fmt::format(" + {} more", group.heads.size() - shown);
    const bool mixed = group.name == kNoType;
    table.rows.push_back({.label = group.name,
                          .cells = {{.text = std::to_string(group.heads.size())},
                                    {.text = mixed ? "no number stands out" : names,
                                     .tone = mixed ? TableTone::kMuted : TableTone::kPlain}}});
  }
  return table;
}

}  // namespace fovea
