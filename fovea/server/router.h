// Finds the route of an address.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "fovea/server/http_request.h"
#include "fovea/server/resource.h"

namespace fovea {

struct FoundRoute {
  const Route* route = nullptr;  // null: the address is none of a route
  std::map<std::string, std::string, std::less<>> names;
};

class Router {
 public:
  explicit Router(const std::vector<Resource>& resources);

  // Throws HttpProblem 405 where the address takes other methods only, and 404 for an address below
  // /v1 that is none.
  FoundRoute find(const WebRequest& request) const;
  const std::vector<Route>& routes() const { return routes_; }

 private:
  std::vector<Route> routes_;
  std::vector<std::vector<std::string>> parts_;  // of their patterns
};

}  // namespace fovea
