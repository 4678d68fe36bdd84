// What the server is doing.
#include "fovea/base/version.h"
#include "fovea/server/resource.h"
#include "fovea/server/server_state.h"

namespace fovea {
namespace {

Json count_json(uint64_t count) {
  return Json(static_cast<int64_t>(count));
}

WebResponse answer_status(const Call& call) {
  ServerState& state = call.state;
  call.check_query({});
  Json json = Json::object({{"program", std::string("fovea ") + std::string(version())}});
  json.set("runs", count_json(state.runs.all().size()));
  json.set("jobs", Json::object({{"runs", count_json(state.maker.size())},
                                 {"work", count_json(state.work_lane.size())},
                                 {"tiles", count_json(state.tile_lane.size())},
                                 {"exact", count_json(state.exact.size())}}));
  json.set("counts", Json::object({{"answered", count_json(state.counts.answered)},
                                   {"cancelled", count_json(state.counts.cancelled)},
                                   {"tiles", count_json(state.counts.tiles)},
                                   {"refused", count_json(state.connections->refused)},
                                   {"left", count_json(state.connections->left)}}));
  json.set("connections", count_json(state.connections->connections));
  json.set("bytes", Json::object({{"most", count_json(state.memory)},
                                  {"runs", count_json(state.runs.bytes())},
                                  {"uploads", count_json(state.uploads.bytes())},
                                  {"tiles", count_json(state.tiles->bytes())}}));
  return json_response(json);
}

}  // namespace

Resource status_resource() {
  return {{{.method = "GET",
            .pattern = "/v1/status",
            .summary = "what the server is doing",
            .lane = Lane::kQuick,
            .answer = answer_status}}};
}

}  // namespace fovea
