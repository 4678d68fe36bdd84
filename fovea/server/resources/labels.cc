// The positions of an axis: what stands there, where it stands in the source, and what it is.
#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/capture/words.h"
#include "fovea/server/caching.h"
#include "fovea/server/resource.h"
#include "fovea/server/server_state.h"

namespace fovea {
namespace {

constexpr int64_t kMostLabels = 4096;

// Ids are known of what a model read, where its axis is that of the ids.
const std::vector<int64_t>* ids_of(const FinishedRun& run, const Axis& axis) {
  const ModelInputs& inputs = run.result().inputs;
  const auto fits = [&](const std::vector<int64_t>& ids) {
    return std::ssize(ids) == std::ssize(axis.positions);
  };
  if (axis.name == "target" && fits(inputs.decoder_input_ids)) return &inputs.decoder_input_ids;
  const bool reads = axis.name == "tokens" || axis.name == "source";
  return reads && fits(inputs.input_ids) ? &inputs.input_ids : nullptr;
}

// A text's bytes may be half a letter, which JSON cannot hold.
Json bytes_json(std::string_view bytes) {
  Json json = Json::array();
  for (const char byte : bytes) json.push_back(int64_t{static_cast<unsigned char>(byte)});
  return json;
}

std::string_view kind_of(const Axis& axis, int64_t index) {
  const auto grid_begin = std::ssize(axis.positions) - axis.grid_rows * axis.grid_cols;
  if (axis.positions[static_cast<size_t>(index)].special) return "special";
  if (axis.grid_rows > 0 && index >= grid_begin) return "patch";
  return axis.source.empty() ? "other" : "text";
}

Json label_json(const FinishedRun& run, const Axis& axis, int64_t index) {
  const Position& position = axis.positions[static_cast<size_t>(index)];
  Json json = Json::object({{"position", index}});
  if (const auto* ids = ids_of(run, axis)) json.set("id", (*ids)[static_cast<size_t>(index)]);
  const auto size = std::ssize(axis.source);
  const int64_t begin = std::clamp<int64_t>(position.source_begin, 0, size);
  const int64_t end = std::clamp<int64_t>(position.source_end, begin, size);
  json.set("text", position.text);
  json.set("display", isolated(plain_label(axis, index)));
  if (end > begin) {
    json.set("span", Json(Json::Array{begin, end}));
    json.set("bytes",
             bytes_json(std::string_view(axis.source)
                            .substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin))));
  }
  json.set("kind", kind_of(axis, index));
  if (position.word >= 0) json.set("group", position.word);
  return json;
}

WebResponse answer_labels(const Call& call) {
  call.check_query({"axis", "from", "n"});
  if (const std::string tag = tag_of(call.request); has_tag(call.request, tag)) {
    return not_modified(tag);
  }
  const auto open = call.state.runs.run(call.name("hash"));
  const std::shared_ptr<const FinishedRun> run = open->finished();
  SiteKind kind{};
  try {
    kind = parse_site_kind(call.name("site"));
  } catch (const Error& error) {
    throw Error(ErrorKind::kNotFound, Field{"site"}, error.what());
  }
  const auto& records = run->run().records;
  const auto record =
      std::ranges::find(records, kind, [](const auto& each) { return each->site.kind; });
  if (record == records.end()) {
    fail(ErrorKind::kNotFound, Field{"site"}, "this run has no {}", to_string(kind));
  }
  const std::string which = call.query("axis");
  if (which != "row" && which != "column" && !which.empty()) {
    fail(ErrorKind::kInvalidArgument, Field{"axis"}, "'{}' is neither row nor column", which);
  }
  const std::string& name = which == "column" ? (*record)->col_axis : (*record)->row_axis;
  const Axis* axis = run->run().find_axis(name);
  const int64_t count = axis == nullptr ? 0 : std::ssize(axis->positions);
  const int64_t from = call.query_number("from", 0, count);
  const int64_t most = call.query_number("n", 256, kMostLabels);
  Json labels = Json::array();
  for (int64_t i = from; i < std::min(from + most, count); ++i) {
    labels.push_back(label_json(*run, *axis, i));
  }
  return immutable(
      json_response(Json::object(
          {{"axis", name}, {"from", from}, {"positions", count}, {"labels", std::move(labels)}})),
      tag_of(call.request));
}

}  // namespace

Resource labels_resource() {
  return {{{.method = "GET",
            .pattern = "/v1/runs/{hash}/{site}/labels",
            .summary = "the positions of an axis",
            .lane = Lane::kQuick,
            .answer = answer_labels}}};
}

}  // namespace fovea
