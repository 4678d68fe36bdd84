#include "fovea/server/caching.h"

#include "fovea/base/sha256.h"
#include "fovea/base/version.h"

namespace fovea {
namespace {

constexpr const char* kForever = "public, max-age=31536000, immutable";

void mark(WebResponse& response, const std::string& tag) {
  response.headers.emplace_back("Cache-Control", kForever);
  response.headers.emplace_back("ETag", tag);
}

}  // namespace

std::string tag_of(const WebRequest& request) {
  std::string text(version());
  text += "\n" + request.path;
  for (const auto& [name, value] : request.query) {
    if (name != "token") text += "\n" + name + "=" + value;
  }
  constexpr size_t kDigits = 20;
  return '"' + sha256_hex(as_bytes(text)).substr(0, kDigits) + '"';
}

bool has_tag(const WebRequest& request, const std::string& tag) {
  const std::string_view known = request.header("if-none-match");
  return known == "*" || known.find(tag) != known.npos;
}

WebResponse not_modified(const std::string& tag) {
  WebResponse response{.status = 304};
  mark(response, tag);
  return response;
}

WebResponse immutable(WebResponse response, const std::string& tag) {
  mark(response, tag);
  return response;
}

}  // namespace fovea
