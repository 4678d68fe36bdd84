#include "fovea/checkpoint/hub.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <thread>

#include "fovea/base/cancel.h"
#include "fovea/base/error.h"
#include "fovea/base/json.h"
#include "fovea/base/parse.h"
#include "fovea/base/utf8.h"

namespace fovea {
namespace {

constexpr int kMostRedirects = 10;
constexpr size_t kLongestListing = size_t{64} << 20;
constexpr uint64_t kProgressBytes = uint64_t{1} << 20;
constexpr auto kLongestDelay = std::chrono::seconds(60);

std::string from_variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool is_hex(std::string_view text, size_t length) {
  return text.size() == length && text.find_first_not_of("0123456789abcdef") == text.npos;
}

std::string read_token() {
  std::string token(trimmed(from_variable("HF_TOKEN")));
  std::string source = "HF_TOKEN";
  const std::filesystem::path file = hub_home() / "token";
  std::error_code ignored;
  if (token.empty() && std::filesystem::is_regular_file(file, ignored)) {
    token = trimmed(read_text_file(file, 4096));
    source = file.string();
  }
  if (std::ranges::any_of(token, [](char c) { return c <= ' ' || c > '~'; })) {
    fail(ErrorKind::kBadFile, "{}: holds characters that no token has; put the token there again",
         source);
  }
  return token;
}

// A path or a part of one as it stands in an address.
std::string percent_encode(std::string_view text, bool keep_slashes) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.' || c == '~';
    if (is_plain || (keep_slashes && c == '/')) {
      encoded += c;
    } else {
      encoded += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return encoded;
}

// "bytes 100-199/200": the first byte, and the size of the whole.
bool parse_content_range(std::string_view text, uint64_t& first, uint64_t& total) {
  const size_t dash = text.find('-');
  const size_t slash = text.find('/');
  if (!text.starts_with("bytes ") || dash == text.npos || slash == text.npos || dash > slash) {
    return false;
  }
  const auto begin = parse_number<uint64_t>(text.substr(6, dash - 6));
  const auto size = parse_number<uint64_t>(text.substr(slash + 1));
  first = begin.value_or(0);
  total = size.value_or(0);
  return begin && size;
}

// An ETag header without quotes and the mark of a weak one.
std::string_view bare_etag(std::string_view text) {
  if (text.starts_with("W/")) text.remove_prefix(2);
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') {
    text = text.substr(1, text.size() - 2);
  }
  return text;
}

bool passes_with_time(const HttpResponse& response) {
  constexpr std::array kStatuses{408, 429, 500, 502, 503, 504};
  if (!response.failure.empty()) return response.worth_retry;
  return std::ranges::find(kStatuses, response.status) != kStatuses.end();
}

bool succeeded(const HttpResponse& response) {
  return response.failure.empty() && response.status >= 200 && response.status < 300;
}

uint64_t read_size(const Json& value, const std::string& where) {
  const int64_t size = value.as_int(where);
  if (size < 0) fail(ErrorKind::kBadFile, "{} is {} but cannot be negative", where, size);
  return static_cast<uint64_t>(size);
}

HubFile parse_hub_file(const Json& sibling, const std::string& source) {
  HubFile file;
  file.name = sibling.at("rfilename", source).as_string(source + ": rfilename");
  if (!stays_in_folder(file.name)) {
    fail(ErrorKind::kBadFile,
         "{}: lists a file {}, which would lie outside the model's folder; do not trust this model",
         source, quote_name(file.name));
  }
  const std::string where = source + ": " + file.name;
  const Json* size = sibling.find("size");
  const Json* blob = sibling.find("blobId");
  const Json* lfs = sibling.find("lfs");
  if (lfs != nullptr && lfs->is_object()) {
    blob = lfs->find("sha256");
    if (const Json* lfs_size = lfs->find("size")) size = lfs_size;
  }
  if (size == nullptr || size->is_null() || blob == nullptr || blob->is_null()) return file;
  file.size = read_size(*size, where + ": size");
  file.etag = blob->as_string(where + ": checksum");
  if (!is_hex(file.etag, 40) && !is_hex(file.etag, 64)) {
    fail(ErrorKind::kBadFile, "{}: its checksum is {} but should be 40 or 64 hexadecimal digits",
         where, quote_name(file.etag));
  }
  return file;
}

}  // namespace

HubSettings HubSettings::from_environment() {
  HubSettings settings;
  std::string endpoint(trimmed(from_variable("HF_ENDPOINT")));
  while (endpoint.ends_with('/')) endpoint.pop_back();
  if (!endpoint.empty()) settings.endpoint = endpoint;
  settings.token = read_token();
  std::string offline(trimmed(from_variable("HF_HUB_OFFLINE")));
  std::ranges::transform(offline, offline.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  });
  settings.offline = offline == "1" || offline == "ON" || offline == "YES" || offline == "TRUE";
  return settings;
}

const HubFile* HubModel::find(std::string_view name) const {
  const auto found = std::ranges::find(files, name, &HubFile::name);
  return found == files.end() ? nullptr : &*found;
}

HubModel parse_hub_model(std::string_view text, const std::string& source) {
  const Json json = Json::parse(text, source);
  HubModel model;
  model.commit = json.at("sha", source).as_string(source + ": sha");
  if (!is_plain_name(model.commit)) {
    fail(ErrorKind::kBadFile, "{}: its commit is {}, which is not the name of one", source,
         quote_name(model.commit));
  }
  for (const Json& sibling : json.at("siblings", source).as_array(source + ": siblings")) {
    model.files.push_back(parse_hub_file(sibling, source));
  }
  return model;
}

// How often to go on after a failure that may pass, and how long to wait before.
struct Hub::Retries {
  const HubSettings& settings;
  int used = 0;

  // False if it is time to give up; otherwise waits.
  bool wait(const HttpResponse& response) {
    if (!passes_with_time(response) || used >= settings.retries) return false;
    std::chrono::milliseconds delay = settings.retry_delay * (int64_t{1} << std::min(used, 16));
    if (const auto seconds = parse_number<uint64_t>(response.header("retry-after"))) {
      delay = std::chrono::seconds(std::min<uint64_t>(*seconds, 3600));
    }
    const auto until = std::chrono::steady_clock::now() +
                       std::min<std::chrono::milliseconds>(delay, kLongestDelay);
    constexpr std::chrono::milliseconds kLook(20);
    for (auto now = std::chrono::steady_clock::now(); now < until;
         now = std::chrono::steady_clock::now()) {
      check_cancelled();
      std::this_thread::sleep_for(
          std::min<std::chrono::steady_clock::duration>(kLook, until - now));
    }
    ++used;
    return true;
  }
};

Hub::Hub(HubSettings settings) : settings_(std::move(settings)) {
  if (settings_.offline) {
    fail(ErrorKind::kIo, "HF_HUB_OFFLINE is set, so nothing is downloaded; unset it to go on");
  }
  origin_ = http_origin(settings_.endpoint);
  if (origin_.empty()) {
    fail(ErrorKind::kInvalidArgument,
         "the hub's address HF_ENDPOINT is {} but must begin with https:// or http://",
         quote_name(settings_.endpoint));
  }
}

HttpRequest Hub::request_to(const std::string& url) const {
  // Compressed, a file would not have the size that it should.
  return {.url = url, .headers = {"Accept-Encoding: identity"}};
}

std::string Hub::file_url(const HubName& name, const std::string& commit,
                          const std::string& file) const {
  return fmt::format("{}/{}/resolve/{}/{}", settings_.endpoint, name.id,
                     percent_encode(commit, false), percent_encode(file, true));
}

// Follows redirects, to the end or, for a HEAD request, to the answer that describes the file.
HttpResponse Hub::exchange(HttpRequest request, const HttpBody& on_body) {
  for (int hop = 0; hop <= kMostRedirects; ++hop) {
    const HttpOrigin origin = http_origin(request.url);
    HttpRequest sent = request;
    if (origin == origin_ && !settings_.token.empty()) {
      sent.headers.push_back("Authorization: Bearer " + settings_.token);
    }
    HttpResponse response = client_.send(sent, [&](const HttpResponse& head, Bytes bytes) {
      if (head.status >= 200 && head.status < 300) on_body(head, bytes);
    });
    if (!response.failure.empty()) {
      response.failure = fmt::format("{}: {}", origin.host, response.failure);
      return response;
    }
    const bool described = request.head && !response.header("x-linked-etag").empty();
    if (response.redirect.empty() || described) return response;
    const HttpOrigin next = http_origin(response.redirect);
    if (next.empty() || (origin.scheme == "https" && next.scheme != "https")) {
      fail(ErrorKind::kIo, "{} redirects to {}, which is not a safe address; do not trust it",
           origin.host, quote_name(response.redirect));
    }
    request.url = response.redirect;
  }
  fail(ErrorKind::kIo, "{} redirects more than {} times; check HF_ENDPOINT", settings_.endpoint,
       kMostRedirects);
}

void Hub::fail_transfer(const HubName& name, std::string_view what,
                        const HttpResponse& response) const {
  fail(ErrorKind::kIo,
       "{}: {} cannot be downloaded: {}; check the network, the proxy and HF_ENDPOINT, then run it "
       "again to go on",
       name.text(), what, response.failure);
}

void Hub::fail_status(const HubName& name, std::string_view file,
                      const HttpResponse& response) const {
  const std::string what = file.empty() ? name.text() : name.text() + ": " + std::string(file);
  const std::string_view code = response.header("x-error-code");
  switch (response.status) {
    case 401:
      if (code == "GatedRepo") break;
      if (!settings_.token.empty()) {
        fail(ErrorKind::kIo,
             "{}: no such model, or the token may not read it (401); check the name and HF_TOKEN",
             what);
      }
      fail(ErrorKind::kIo,
           "{}: no such model, or it is private or gated (401); check the name, or set HF_TOKEN to "
           "a token that may read it",
           what);
    case 403:
      break;
    case 404:
      if (code == "RevisionNotFound") {
        fail(ErrorKind::kNotFound, "{}: the model has no revision {} (404); check the name",
             name.id, quote_name(name.revision_or_main()));
      }
      fail(ErrorKind::kNotFound, "{}: no such {} at {} (404); check the name", what,
           file.empty() ? "model or revision" : "file", settings_.endpoint);
    case 429:
      fail(ErrorKind::kIo, "{}: {} says that there were too many requests (429); wait and retry",
           what, origin_.host);
    default:
      fail(ErrorKind::kIo, "{}: {} answers with status {}; try it later", what, origin_.host,
           response.status);
  }
  fail(ErrorKind::kIo,
       "{}: the model is gated or private ({}); accept its terms at {}/{} and set HF_TOKEN to a "
       "token that may read it",
       what, response.status, settings_.endpoint, name.id);
}

HubModel Hub::model(const HubName& name) {
  const std::string url = fmt::format("{}/api/models/{}/revision/{}?blobs=true", settings_.endpoint,
                                      name.id, percent_encode(name.revision_or_main(), false));
  Retries retries{settings_};
  for (;;) {
    std::string text;
    const HttpResponse response = exchange(request_to(url), [&](const HttpResponse&, Bytes bytes) {
      text += as_text(bytes);
      if (text.size() > kLongestListing) {
        fail(ErrorKind::kBadFile, "{}: its list of files is longer than {} bytes", name.text(),
             kLongestListing);
      }
    });
    if (succeeded(response)) return parse_hub_model(text, settings_.endpoint + ": " + name.text());
    if (retries.wait(response)) continue;
    if (!response.failure.empty()) fail_transfer(name, "the list of its files", response);
    fail_status(name, "", response);
  }
}

void Hub::complete(const HubName& name, const std::string& commit, HubFile& file) {
  if (!file.etag.empty()) return;
  HttpRequest request = request_to(file_url(name, commit, file.name));
  request.head = true;
  Retries retries{settings_};
  HttpResponse response;
  do {
    response = exchange(request, [](const HttpResponse&, Bytes) {});
  } while (!succeeded(response) && response.redirect.empty() && retries.wait(response));
  if (!response.failure.empty()) fail_transfer(name, file.name, response);
  if (response.status >= 400) fail_status(name, file.name, response);
  const bool is_linked = !response.header("x-linked-etag").empty();
  const std::string_view etag = bare_etag(response.header(is_linked ? "x-linked-etag" : "etag"));
  const std::string_view size = response.header(is_linked ? "x-linked-size" : "content-length");
  const auto bytes = parse_number<uint64_t>(size);
  if (!is_plain_name(etag) || !bytes) {
    fail(ErrorKind::kBadFile, "{}: {} gives size {} and ETag {} of {}, which fovea cannot use",
         name.text(), origin_.host, quote_name(size), quote_name(etag), file.name);
  }
  file.size = *bytes;
  file.etag = etag;
}

// Before the first byte: does the answer go on where the sink is, and is the whole of the right
// size? A sink that is further than the answer is restarted; so is one that was given something
// wrong.
void Hub::check_start(const HubName& name, const HubFile& file, const HttpResponse& head,
                      DownloadSink& sink) const {
  const uint64_t start = sink.position();
  uint64_t first = 0;
  uint64_t total = file.size;
  if (head.status == 206) {
    const std::string_view range = head.header("content-range");
    if (!parse_content_range(range, first, total) || first != start) {
      sink.restart();
      fail(ErrorKind::kBadFile, "{}: {} sends {} where {} was to go on at byte {}; run it again",
           name.text(), origin_.host, quote_name(range), file.name, start);
    }
  } else {
    if (start > 0) sink.restart();
    // Not every server tells.
    total = parse_number<uint64_t>(head.header("content-length")).value_or(file.size);
  }
  if (total != file.size) {
    sink.restart();
    fail(ErrorKind::kBadFile, "{}: {} should have {} bytes but {} sends {}; try it later",
         name.text(), file.name, file.size, origin_.host, total);
  }
}

void Hub::download(const HubName& name, const std::string& commit, const HubFile& file,
                   DownloadSink& sink) {
  Retries retries{settings_};
  while (sink.position() < file.size) {
    const uint64_t start = sink.position();
    HttpRequest request = request_to(file_url(name, commit, file.name));
    if (start > 0) request.headers.push_back(fmt::format("Range: bytes={}-", start));
    bool begun = false;
    HttpResponse response = exchange(request, [&](const HttpResponse& head, Bytes bytes) {
      if (!begun) check_start(name, file, head, sink);
      begun = true;
      sink.write(bytes);
    });
    if (sink.position() >= file.size) return;
    if (sink.position() > start + kProgressBytes) retries.used = 0;
    if (response.failure.empty() && response.status == 416 && start > 0) {
      sink.restart();  // what is there is not the beginning of this file
      continue;
    }
    if (succeeded(response)) {
      if (!begun) check_start(name, file, response, sink);
      response.failure = fmt::format("{}: the connection ended after {} of {} bytes", origin_.host,
                                     sink.position(), file.size);
      response.worth_retry = true;
    }
    if (retries.wait(response)) continue;
    if (!response.failure.empty()) fail_transfer(name, file.name, response);
    fail_status(name, file.name, response);
  }
}

}  // namespace fovea
