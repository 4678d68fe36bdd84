// What stands beside a map: its sinks, the columns that receive most, and how far rows look. One
// pass over all weights.
#include <algorithm>
#include <numeric>

#include "fovea/atlas/map_survey.h"
#include "fovea/base/error.h"
#include "fovea/base/team.h"
#include "fovea/figure/sinks.h"
#include "fovea/server/caching.h"
#include "fovea/server/map_address.h"
#include "fovea/server/server_state.h"

namespace fovea {
namespace {

constexpr int64_t kBins = 512;
constexpr size_t kReceivers = 16;

Json columns_json(std::span<const int64_t> columns, std::span<const double> sums, double rows) {
  Json json = Json::array();
  for (const int64_t column : columns) {
    json.push_back(
        Json::object({{"column", column}, {"share", sums[static_cast<size_t>(column)] / rows}}));
  }
  return json;
}

// Those that receive most, without the ones that are drawn apart.
std::vector<int64_t> receivers(std::span<const double> sums, std::span<const int64_t> apart) {
  std::vector<int64_t> columns(sums.size());
  std::iota(columns.begin(), columns.end(), 0);
  std::erase_if(columns, [&](int64_t column) { return std::ranges::binary_search(apart, column); });
  const auto end =
      columns.begin() + static_cast<std::ptrdiff_t>(std::min(kReceivers, columns.size()));
  std::partial_sort(columns.begin(), end, columns.end(), [&](int64_t a, int64_t b) {
    const double x = sums[static_cast<size_t>(a)], y = sums[static_cast<size_t>(b)];
    return x != y ? x > y : a < b;
  });
  columns.erase(end, columns.end());
  return columns;
}

Json distances_json(const MapSurvey& survey, double rows) {
  Json json = Json::array();
  for (size_t step = 0; step < survey.by_distance.size(); ++step) {
    json.push_back(Json::object({{"from", first_distance(static_cast<int64_t>(step))},
                                 {"share", survey.by_distance[step] / rows},
                                 {"even", survey.even_by_distance[step] / rows}}));
  }
  return json;
}

WebResponse answer_survey(const Call& call) {
  call.check_query({});
  if (const std::string tag = tag_of(call.request); has_tag(call.request, tag)) {
    return not_modified(tag);
  }
  const AddressedMap map = addressed_map(call);
  if (map.choice.head.kind != HeadChoice::Kind::kOne) {
    fail(ErrorKind::kInvalidArgument, Field{"head"}, "a survey is of one head; give its number");
  }
  const auto record = map.run->record(map.choice.site);
  const AttentionShape shape = record->shape();
  const int64_t block =
      std::max<int64_t>(1, (std::max(shape.rows, shape.cols) + kBins - 1) / kBins);
  const int64_t head = map.choice.head.head;
  MapSurvey survey = run_on_free_team([&] { return survey_map(record, head, block); });
  const std::vector<int64_t> sinks = sink_columns(*record, survey.column_sums);
  if (!sinks.empty()) take_out(survey, record, head, sinks);
  const auto rows = static_cast<double>(shape.rows);
  Json json = Json::object({{"sinks", columns_json(sinks, survey.column_sums, rows)}});
  json.set("receivers",
           columns_json(receivers(survey.column_sums, sinks), survey.column_sums, rows));
  json.set("by_distance", distances_json(survey, rows));
  return immutable(json_response(json), tag_of(call.request));
}

}  // namespace

Resource survey_resource() {
  return {{{.method = "GET",
            .pattern = "/v1/runs/{hash}/{site}/survey/{layer}/{head}",
            .summary = "sinks, the columns that receive most, and weight by distance",
            .lane = Lane::kWork,
            .answer = answer_survey}}};
}

}  // namespace fovea
