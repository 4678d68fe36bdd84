#include "fovea/server/static_files.h"

#include <algorithm>
#include <array>

#include "fovea/base/sha256.h"
#include "fovea/io/gzip.h"
#include "fovea/render/page.h"
#include "fovea/server/server_state.h"
#include "fovea/server/temporary_folder.h"
#include "fovea/webfiles/files.h"

namespace fovea {
namespace {

struct MimeType {
  std::string_view suffix;
  std::string_view type;
};
constexpr std::array kMimeTypes = {
    MimeType{".html", "text/html; charset=utf-8"},
    MimeType{".js", "text/javascript; charset=utf-8"},
    MimeType{".css", "text/css; charset=utf-8"},
    MimeType{".json", "application/json"},
    MimeType{".svg", "image/svg+xml"},
    MimeType{".png", "image/png"},
    MimeType{".jpg", "image/jpeg"},
    MimeType{".webp", "image/webp"},
    MimeType{".ico", "image/x-icon"},
    MimeType{".txt", "text/plain; charset=utf-8"},
    MimeType{".map", "application/json"},
    MimeType{".bin", "application/octet-stream"},
    MimeType{".woff2", "font/woff2"},
    MimeType{".wasm", "application/wasm"},
};

constexpr const char* kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; "
    "connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'; "
    "trusted-types fovea svelte-trusted-html";
// A saved page brings its own policy, which names its script by a checksum.
constexpr const char* kSavedPagePolicy =
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

bool takes_gzip(const WebRequest& request) {
  return request.header("accept-encoding").find("gzip") != std::string_view::npos;
}

// What a bundler names by its contents never changes under that name.
bool is_named_by_contents(std::string_view path) {
  return path.starts_with("assets/");
}

WebResponse file_response(const WebRequest& request, const WebFile& file) {
  constexpr size_t kTagDigits = 20;
  const std::string tag = '"' + sha256_hex(file.bytes).substr(0, kTagDigits) + '"';
  WebResponse response{.type = std::string(mime_type_of(file.path))};
  const bool forever = is_named_by_contents(file.path);
  response.headers = {
      {"Cache-Control", forever ? "public, max-age=31536000, immutable" : "no-cache"},
      {"ETag", tag},
      {"Content-Security-Policy", kPolicy},
      {"Vary", "Accept-Encoding"}};
  if (request.header("if-none-match") == tag) {
    response.status = 304;
    return response;
  }
  if (file.is_gzip && takes_gzip(request)) {
    response.headers.emplace_back("Content-Encoding", "gzip");
    response.body = std::make_shared<const std::string>(as_text(file.bytes));
  } else {
    response.body = std::make_shared<const std::string>(
        file.is_gzip ? gunzipped(file.bytes) : std::string(as_text(file.bytes)));
  }
  return response;
}

// Without a page of its own the server shows the newest run as `open --out page.html` saves it.
WebResponse saved_page(ServerState& state) {
  for (const auto& run : state.runs.all()) {
    const std::shared_ptr<const Run> shown(run->finished(), &run->finished()->run());
    if (page_bytes_estimate(*shown) > kMostPageBytes) continue;
    const TemporaryFolder folder;
    write_page(folder.path() / "page.html", *shown);
    WebResponse response =
        bytes_response(read_text_file(folder.path() / "page.html"), mime_type_of(".html"));
    response.headers.emplace_back("Content-Security-Policy", kSavedPagePolicy);
    return response;
  }
  return bytes_response(
      "<!doctype html><html lang=\"en\"><title>fovea</title><p>fovea serves. There is no run to "
      "show "
      "yet; <a href=\"/v1/models\">/v1/models</a> lists what can be run.</html>\n",
      mime_type_of(".html"));
}

}  // namespace

std::string_view mime_type_of(std::string_view path) {
  for (const MimeType& each : kMimeTypes) {
    if (path.ends_with(each.suffix)) return each.type;
  }
  return "application/octet-stream";
}

WebResponse static_response(const WebRequest& request, ServerState& state) {
  const std::string path = request.parts.empty() ? "index.html" : request.path.substr(1);
  if (const WebFile* file = find_web_file(path)) return file_response(request, *file);
  if (request.parts.empty()) return saved_page(state);
  throw HttpProblem(404, "there is no such file");
}

}  // namespace fovea
