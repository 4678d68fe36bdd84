#include "fovea/cli/stats/state.h"

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/cli/interrupt.h"

namespace fovea {
namespace {

constexpr int64_t kVersion = 2;

// What a broken file says is of no use to who gave it: only that a count cannot go on from it.
Json parse_state(const std::filesystem::path& path) {
  try {
    return Json::parse(read_text_file(path), path.string());
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kBadFile) throw;
    fail(ErrorKind::kBadFile,
         "{} is no count to go on from: it is cut off or no JSON; remove it to begin anew, or "
         "give another --state",
         path.string());
  }
}

std::string shown(const Json* value) {
  if (value == nullptr) return "missing";
  return value->is_string() ? value->as_string("") : value->dump();
}

// The first thing that the two counts do not share, as the user gives it.
std::string difference(const Json& of, const Json& identity) {
  for (const auto& [name, asked] : identity.as_object("")) {
    const Json* was = of.find(name);
    if (was != nullptr && was->dump() == asked.dump()) continue;
    if (name == "corpus") return "CORPUS or its files are others";
    const bool all = name == "limit" && (shown(was) == "0" || shown(&asked) == "0");
    return fmt::format("{} was {} and is now {}{}", name == "attention" ? "site" : name, shown(was),
                       shown(&asked), all ? ", where 0 is all inputs" : "");
  }
  return "";
}

}  // namespace

void save_state(const std::filesystem::path& path, const StatsState& state, const Json& identity) {
  Json json = Json::object({{"fovea_stats", kVersion},
                            {"of", identity},
                            {"next", state.next},
                            {"left_out", state.left_out},
                            {"first_reason", state.first_reason},
                            {"statistics", state.statistics.to_json()}});
  const InterruptGuard guard;
  write_file_atomic(path, [&](FileWriter& file) { file.write(json.dump() + "\n"); });
}

std::optional<StatsState> load_state(const std::filesystem::path& path, const Json& identity,
                                     int64_t inputs) {
  if (!file_exists(path)) return {};
  const std::string where = path.string();
  const Json json = parse_state(path);
  const Json* version = json.find("fovea_stats");
  const Json* of = json.find("of");
  if (version == nullptr || of == nullptr) {
    fail(ErrorKind::kBadFile,
         "{} is no count to go on from but another JSON file; give another --state", where);
  }
  if (version->dump() != Json(kVersion).dump()) {
    fail(ErrorKind::kBadFile,
         "{} is a count in format {} but this fovea goes on from {}; remove it to begin anew",
         where, shown(version), kVersion);
  }
  if (const std::string what = difference(*of, identity); !what.empty()) {
    fail(ErrorKind::kBadFile,
         "{} is of another count: {}; give the same as before, or remove it to begin anew", where,
         what);
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
