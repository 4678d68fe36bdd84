#include "fovea/server/run_facts.h"

#include <algorithm>
#include <functional>
#include <map>

#include "fovea/ask/map_answer.h"
#include "fovea/base/utf8.h"
#include "fovea/figure/sinks.h"

namespace fovea {
namespace {

using Record = std::shared_ptr<const AttentionRecord>;

constexpr int kShortText = 80;

std::string model_of(const OpenRun& run) {
  const OpenedInput* opened = run.session().opened();
  return opened != nullptr ? opened->engine.name() : run.finished()->run().model;
}

std::string short_input(const FinishedRun& run) {
  for (const Axis& axis : run.run().axes) {
    if (!axis.source.empty()) return shorten(to_one_line(axis.source), kShortText);
  }
  if (run.opened && run.opened->picture) return "a picture";
  return run.arrays ? run.arrays->file : std::string();
}

std::string_view sort_name(RunSort sort) {
  return sort == RunSort::kObjects ? "objects" : sort == RunSort::kPicture ? "picture" : "text";
}

struct Sink {
  int64_t position = 0;
  double share = 0;
};

// Columns that take a tenth or more of what rows give, by the mean over heads of one layer. Some of
// the rows judge them: reading all would take as long as the run.
void judge_sinks(const Record& record, std::map<int64_t, double>& sinks) {
  constexpr int64_t kRows = 12, kPlaces = 3;
  const auto source = cell_source(record, {.kind = HeadChoice::Kind::kMean}, MapValue::kWeight);
  std::vector<double> sums(static_cast<size_t>(source->cols()));
  std::vector<int64_t> counts(sums.size());
  int64_t read = 0;
  for (int64_t place = 1; place <= kPlaces; ++place) {
    const int64_t begin = std::max<int64_t>(source->rows() * place / kPlaces - kRows, 0);
    const int64_t end = std::min(begin + kRows, source->rows());
    const Tensor cells = source->cells({begin, end, 0, source->cols()});
    read += end - begin;
    for (int64_t row = begin; row < end; ++row) {
      const float* line = cells.matrix<float>().row(row - begin);
      const KeyRange seen = record->rule.mask.key_range(row, source->cols());
      for (int64_t col = seen.begin; col < seen.end; ++col) {
        if (!record->rule.mask.allows(row, col)) continue;
        sums[static_cast<size_t>(col)] += double{line[col]};
        ++counts[static_cast<size_t>(col)];
      }
    }
  }
  for (size_t col = 0; col < sums.size(); ++col) {
    if (2 * counts[col] < read) continue;
    const double share = sums[col] / static_cast<double>(counts[col]);
    double& most = sinks[static_cast<int64_t>(col)];
    most = std::max(most, share);
    if (most < kSinkMean) sinks.erase(static_cast<int64_t>(col));
  }
}

Json sinks_json(const std::vector<Record>& layers, const Axis* axis) {
  std::map<int64_t, double> found;
  for (const Record& layer : layers) judge_sinks(layer, found);
  std::vector<Sink> sinks;
  for (const auto& [position, share] : found) sinks.push_back({position, share});
  std::ranges::stable_sort(sinks, std::greater<>(), &Sink::share);
  if (sinks.size() > kMostSinks) sinks.resize(kMostSinks);
  Json json = Json::array();
  for (const Sink& sink : sinks) {
    const auto place = static_cast<size_t>(sink.position);
    Json each = Json::object({{"position", sink.position}, {"share", sink.share}});
    if (axis != nullptr) each.set("text", axis->positions[place].text);
    json.push_back(std::move(each));
  }
  return json;
}

// What rows may see: row i the columns from i + offset - behind to i + offset + ahead, but no
// hidden one, and those of its group only.
Json visible_json(const Mask& mask) {
  Json json = Json::object({{"offset", mask.query_offset}});
  if (mask.behind) json.set("behind", *mask.behind);
  if (mask.ahead) json.set("ahead", *mask.ahead);
  Json hidden = Json::array();
  for (size_t key = 0; key < mask.key_valid.size(); ++key) {
    if (mask.key_valid[key] == 0) hidden.push_back(static_cast<int64_t>(key));
  }
  if (mask.key_valid.size() > 0) json.set("hidden_keys", std::move(hidden));
  if (!mask.key_group.empty()) {
    json.set("query_groups", Json::array_of(mask.query_group));
    json.set("key_groups", Json::array_of(mask.key_group));
  }
  return json;
}

// Of one kind of attention, with what its layers share.
Json site_json(const std::vector<Record>& layers, const Axis* columns) {
  const AttentionRecord& first = *layers.front();
  const AttentionShape shape = first.shape();
  Json numbers = Json::array();
  for (const Record& layer : layers) numbers.push_back(int64_t{layer->site.layer});
  Json json = Json::object({{"name", to_string(first.site.kind)},
                            {"words", name_of(first.site.kind)},
                            {"layers", std::move(numbers)},
                            {"heads", shape.heads},
                            {"kv_heads", shape.kv_heads},
                            {"rows", shape.rows},
                            {"columns", shape.cols},
                            {"row_axis", first.row_axis},
                            {"column_axis", first.col_axis},
                            {"mask", mask_kind(first.rule.mask)}});
  Json visible = Json::array();
  for (const Record& layer : layers) visible.push_back(visible_json(layer->rule.mask));
  json.set("visible", std::move(visible));
  // What `of` may be: scores need queries, lengths of values the values.
  Json of = Json::array();
  of.push_back("weight");
  of.push_back("times-even");
  if (first.has_queries()) of.push_back("score");
  if (!first.values.empty()) of.push_back("value-weighted");
  json.set("of", std::move(of));
  json.set("sinks", sinks_json(layers, columns));
  return json;
}

Json axis_json(const Axis& axis) {
  Json special = Json::array();
  for (size_t i = 0; i < axis.positions.size(); ++i) {
    if (!axis.positions[i].special) continue;
    special.push_back(Json::object({{"position", i}, {"text", axis.positions[i].text}}));
  }
  Json json = Json::object({{"name", axis.name}, {"positions", axis.positions.size()}});
  json.set("special", std::move(special));
  if (!axis.source.empty()) json.set("source", axis.source);
  if (axis.grid_rows > 0) json.set("grid", Json(Json::Array{axis.grid_rows, axis.grid_cols}));
  return json;
}

}  // namespace

std::string_view mask_kind(const Mask& mask) {
  if (!mask.key_group.empty()) return "other";
  if (mask.ahead && *mask.ahead == 0) return mask.behind ? "window" : "causal";
  if (mask.ahead || mask.behind) return "window";
  return mask.key_valid.empty() ? "none" : "other";
}

Json run_summary(const OpenRun& run) {
  const std::shared_ptr<const FinishedRun> finished = run.finished();
  Json json = Json::object({{"run", run.hash()}, {"model", model_of(run)}});
  if (!run.name().empty()) json.set("name", run.name());
  json.set("sort", sort_name(finished->sort()));
  json.set("input", short_input(*finished));
  int64_t positions = 0;
  for (const Axis& axis : finished->run().axes) {
    positions = std::max(positions, std::ssize(axis.positions));
  }
  json.set("positions", positions);
  json.set("maps", finished->run().records.size());
  json.set("captured", run.captured());
  json.set("bytes", static_cast<int64_t>(run.bytes()));
  return json;
}

Json run_facts(const OpenRun& run) {
  const std::shared_ptr<const FinishedRun> finished = run.finished();
  Json json = run_summary(run);
  const Json facts = facts_of_run(*finished);
  for (const char* name : {"model", "input", "outputs"}) json.set(name, facts.at(name, ""));
  std::vector<std::vector<Record>> sites;
  for (const Record& record : finished->run().records) {
    const bool same = !sites.empty() && sites.back().front()->site.kind == record->site.kind;
    if (!same) sites.emplace_back();
    sites.back().push_back(record);
  }
  Json site_list = Json::array();
  for (const auto& layers : sites) {
    site_list.push_back(site_json(layers, finished->run().find_axis(layers.front()->col_axis)));
  }
  json.set("sites", std::move(site_list));
  Json axes = Json::array();
  for (const Axis& axis : finished->run().axes) axes.push_back(axis_json(axis));
  json.set("axes", std::move(axes));
  json.set("notes", Json::array_of(finished->result().warnings));
  if (const Tensor& picture = finished->run().picture; !picture.empty()) {
    json.set("picture", Json::object({{"width", picture.size(1)}, {"height", picture.size(0)}}));
  }
  return json;
}

}  // namespace fovea
