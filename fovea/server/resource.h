// A resource of the server: which addresses it has and what it answers. Each is a file of
// fovea/server/resources; adding one is adding a file.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/server/http_server.h"

namespace fovea {

struct ServerState;

// A request whose address is known.
struct Call {
  ServerState& state;
  const WebRequest& request;
  const std::map<std::string, std::string, std::less<>>& names;  // what stands for {layer}
  const std::shared_ptr<Exchange>& exchange;

  const std::string& name(std::string_view name) const { return names.find(name)->second; }
  // A whole number of 0 or more in the address. Throws Error{kInvalidArgument} about the field.
  int64_t number(std::string_view name) const;
  // The same of the query; `otherwise` where it is not given.
  int64_t query_number(std::string_view name, int64_t otherwise, int64_t most) const;
  // Empty if it is not given.
  std::string query(std::string_view name) const;
  // Throws Error{kInvalidArgument} about the first name that the query holds beside these.
  void check_query(std::initializer_list<std::string_view> known) const;
};

// Who works on it.
enum class Lane {
  kQuick,  // what is at hand
  kTile,   // milliseconds on one core
  kWork,   // anything: runs, questions, figures
};

struct Route {
  std::string method;   // "GET", which takes HEAD too; "POST"
  std::string pattern;  // "/v1/runs/{hash}"
  std::string summary;
  Lane lane = Lane::kQuick;
  uint64_t body = 0;  // how long a body may be
  // One of the two. `stream` answers through the exchange itself, also after it has returned.
  WebResponse (*answer)(const Call& call) = nullptr;
  void (*stream)(const Call& call) = nullptr;
};

struct Resource {
  std::vector<Route> routes;
};

// Made from resources/ by CMake, in the order of the names.
std::vector<Resource> all_resources();

// What a body of JSON may take.
inline constexpr uint64_t kMostJsonBytes = uint64_t{1} << 20;

}  // namespace fovea
