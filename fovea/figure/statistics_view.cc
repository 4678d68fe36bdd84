#include "fovea/figure/statistics_view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <span>

#include "fovea/base/version.h"
#include "fovea/capture/site.h"

namespace fovea {
namespace {

constexpr std::string_view kNoType = "mixed";
constexpr size_t kMostInCaption = 6, kMostListed = 48;  // of heads of one kind

// Calls visit(layer, head, numbers) for every head.
template <typename Visit>
void for_each_head(const CorpusStatistics& statistics, const Visit& visit) {
  for (int64_t layer = 0; layer < statistics.layers(); ++layer) {
    for (int64_t head = 0; head < statistics.heads(); ++head) {
      visit(layer, head, numbers_of(statistics.sums(layer, head)));
    }
  }
}

// f32 [layers, heads].
Tensor metric_grid(const CorpusStatistics& statistics, const HeadMetric& metric) {
  Tensor grid = Tensor::uninitialized({statistics.layers(), statistics.heads()});
  float* out = grid.mutable_values<float>().data();
  for_each_head(statistics, [&](int64_t, int64_t, const HeadNumbers& numbers) {
    *out++ = static_cast<float>(numbers.*metric.number);
  });
  return grid;
}

struct HeadsOfType {
  std::string name;
  std::vector<std::string> heads;  // "layer.head"
};

// In the order of head_types(), positional heads by their offset; those of no type last.
std::vector<HeadsOfType> heads_by_type(const CorpusStatistics& statistics) {
  std::vector<HeadsOfType> groups;
  for_each_head(statistics, [&](int64_t layer, int64_t head, const HeadNumbers& numbers) {
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

std::string statistics_caption(const CorpusStatistics& statistics, SiteKind site,
                               const HeadMetric& metric) {
  const int64_t inputs = statistics.inputs();
  return fmt::format("{}: {} · mean over the rows of {} input{} · {} · layers down, heads across",
                     metric.name, metric.help, inputs, inputs == 1 ? "" : "s", name_of(site));
}

// " · kinds of heads, as layer.head: previous token 1.3, 2.7; sink 0.1, 0.2 and 12 more"
std::string kinds_caption(const CorpusStatistics& statistics) {
  std::string text;
  for (const HeadsOfType& group : heads_by_type(statistics)) {
    if (group.name == kNoType) continue;
    const size_t shown = std::min(group.heads.size(), kMostInCaption);
    text += text.empty() ? " · kinds of heads, as layer.head: " : "; ";
    text += fmt::format("{} {}", group.name, fmt::join(std::span(group.heads).first(shown), ", "));
    if (shown < group.heads.size()) text += fmt::format(" and {} more", group.heads.size() - shown);
  }
  return text;
}

}  // namespace

MatrixFigure statistics_figure(const CorpusStatistics& statistics, SiteKind site,
                               const std::string& model, const HeadMetric& metric,
                               bool names_kinds) {
  MatrixFigure figure;
  figure.rows = numbered_axis("layers", statistics.layers());
  figure.cols = numbered_axis("heads", statistics.heads());
  figure.row_title = "layer";
  figure.col_title = "head";
  figure.value_name = std::string(metric.name);
  figure.weights = metric_grid(statistics, metric);
  float most = 0;
  for (const float number : figure.weights.values<float>()) most = std::fmax(most, number);
  figure.scale.high = most > 0 ? double{most} : 1;
  figure.text.title =
      fmt::format("{} · {} · {} of every head", std::filesystem::path(model).filename().string(),
                  name_of(site), metric.name);
  figure.text.caption =
      statistics_caption(statistics, site, metric) + (names_kinds ? kinds_caption(statistics) : "");
  Json metadata = Json::object({{"version", version()},
                                {"model", model},
                                {"attention", name_of(site)},
                                {"statistic", metric.name},
                                {"inputs", statistics.inputs()}});
  figure.text.metadata = std::move(metadata);
  return figure;
}

TableFigure kinds_table(const CorpusStatistics& statistics) {
  TableFigure table{.label_name = "kind",
                    .columns = {{.name = "heads"}, {.name = "layer.head", .words = true}}};
  for (const HeadsOfType& group : heads_by_type(statistics)) {
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

MapData statistics_data(const CorpusStatistics& statistics, const FigureText& text) {
  MapData data{.rows = numbered_axis("layers", statistics.layers()),
               .cols = numbered_axis("heads", statistics.heads()),
               .text = text};
  std::vector<float> values;
  for (const HeadMetric& metric : head_metrics()) {
    const Tensor grid = metric_grid(statistics, metric);
    const std::span<const float> numbers = grid.values<float>();
    if (std::ranges::all_of(numbers, [](float number) { return std::isnan(number); })) continue;
    data.panels.emplace_back(metric.name);
    values.insert(values.end(), numbers.begin(), numbers.end());
  }
  data.weights = Tensor::from<float>(
      {static_cast<int64_t>(data.panels.size()), statistics.layers(), statistics.heads()}, values);
  return data;
}

}  // namespace fovea
