#include "fovea/cli/stats_state.h"

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/cli/interrupt.h"

namespace fovea {
namespace {

constexpr int64_t kVersion = 2;

}  // namespace

void save_state(const std::filesystem::path& path, const StatsState& state, const Json& identity) {
  Json json = Json::object();
  json.set("fovea_stats", kVersion);
  json.set("of", identity);
  json.set("next", state.next);
  json.set("left_out", state.left_out);
  json.set("first_reason", state.first_reason);
  json.set("statistics", state.statistics.to_json());
  const InterruptGuard guard;
  write_file_atomic(path, [&](FileWriter& file) { file.write(json.dump() + "\n"); });
}

std::optional<StatsState> load_state(const std::filesystem::path& path, const Json& identity,
                                     int64_t inputs) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return {};
  const std::string where = path.string();
  const Json json = Json::parse(read_text_file(path), where);
  const Json* version = json.find("fovea_stats");
  const Json* of = json.find("of");
  if (version == nullptr || of == nullptr || version->dump() != Json(kVersion).dump() ||
      of->dump() != identity.dump()) {
    fail(ErrorKind::kBadFile,
         "{} is of another count (other model, corpus or options); remove it to begin anew", where);
  }
  StatsState state{.next = json.at("next", where).as_int(where),
                   .left_out = json.at("left_out", where).as_int(where),
                   .first_reason = json.at("first_reason", where).as_string(where),
                   .statistics = CorpusStatistics::from_json(json.at("statistics", where), where)};
  if (state.next < 0 || state.next > inputs) {
    fail(ErrorKind::kBadFile, "{} says that {} inputs are counted but there are {}; remove it",
         where, state.next, inputs);
  }
  return state;
}

}  // namespace fovea
