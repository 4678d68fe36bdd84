// The head of a request, its address, and what the guard and the router make of them.
#include <string>

#include "fovea/base/error.h"
#include "fovea/server/guard.h"
#include "fovea/server/http_request.h"
#include "fovea/server/router.h"
#include "fuzz/fuzz_touch.h"

namespace {

// Addresses of the shapes that the server has; what stands behind them is not asked here.
const fovea::Router& router() {
  using fovea::Route;
  static const fovea::Router all({fovea::Resource{
      {Route{.method = "GET", .pattern = "/v1/runs", .summary = ""},
       Route{.method = "POST", .pattern = "/v1/runs", .summary = ""},
       Route{.method = "POST", .pattern = "/v1/uploads", .summary = ""},
       Route{.method = "GET", .pattern = "/v1/runs/{hash}", .summary = ""},
       Route{.method = "POST", .pattern = "/v1/runs/{hash}/ask", .summary = ""},
       Route{.method = "GET", .pattern = "/v1/runs/{hash}/{site}/labels", .summary = ""},
       Route{.method = "GET",
             .pattern = "/v1/runs/{hash}/{site}/tiles/{layer}/{head}/{level}/{ty}/{tx}",
             .summary = ""}}}});
  return all;
}

void read(std::string_view bytes) {
  const auto end = fovea::find_head_end(bytes);
  if (!end) return;
  fovea::require(*end <= bytes.size());
  const fovea::WebRequest request = fovea::parse_http_head(bytes.substr(0, *end));
  // Nothing that leads elsewhere may come through, however it is written.
  fovea::require(request.path.front() == '/');
  for (const std::string& part : request.parts) {
    fovea::require(!part.empty() && part != "." && part != "..");
    fovea::require(part.find('/') == part.npos && part.find('\\') == part.npos &&
                   part.find('\0') == part.npos && part.find('\n') == part.npos);
  }
  const fovea::Guard open({.host = "127.0.0.1", .token = ""});
  const fovea::Guard closed({.host = "0.0.0.0", .token = "0123456789abcdef"});
  for (const fovea::Guard* guard : {&open, &closed}) {
    try {
      guard->check(request);
    } catch (const fovea::HttpProblem& problem) {
      fovea::require(problem.status() >= 400 && problem.status() < 500);
    }
    fovea::require(guard->cookie(request).find('\n') == std::string::npos);
  }
  const fovea::FoundRoute found = router().find(request);
  if (found.route != nullptr) fovea::require(found.route->method == "POST" || request.is_get());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    read({reinterpret_cast<const char*>(data), size});
  } catch (const fovea::HttpProblem& problem) {
    fovea::require(problem.status() >= 400 && problem.status() < 600);
    fovea::require(std::string_view(problem.what()).find('\n') == std::string_view::npos);
  }
  return 0;
}
