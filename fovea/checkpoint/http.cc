#include "fovea/checkpoint/http.h"

#include <curl/curl.h>
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <exception>

#include "fovea/base/cancel.h"
#include "fovea/base/error.h"
#include "fovea/base/parse.h"
#include "fovea/base/version.h"

namespace fovea {
namespace {

constexpr long kConnectSeconds = 30;
constexpr long kSilentSeconds = 60;
constexpr long kBufferBytes = 256 * 1024;

// The functions used here, with the types that the header gives them.
struct Curl {
  decltype(&::curl_global_init) global_init;
  decltype(&::curl_easy_init) easy_init;
  decltype(&::curl_easy_reset) easy_reset;
  decltype(&::curl_easy_cleanup) easy_cleanup;
  decltype(&::curl_easy_setopt) easy_setopt;
  decltype(&::curl_easy_perform) easy_perform;
  decltype(&::curl_easy_getinfo) easy_getinfo;
  decltype(&::curl_easy_strerror) easy_strerror;
  decltype(&::curl_slist_append) slist_append;
  decltype(&::curl_slist_free_all) slist_free_all;
  decltype(&::curl_url) url;
  decltype(&::curl_url_cleanup) url_cleanup;
  decltype(&::curl_url_set) url_set;
  decltype(&::curl_url_get) url_get;
  decltype(&::curl_free) free;
};

void* open_library() {
#ifdef __APPLE__
  constexpr std::array kNames{"libcurl.4.dylib"};
#else
  constexpr std::array kNames{"libcurl.so.4", "libcurl-gnutls.so.4"};
#endif
  for (const char* name : kNames) {
    if (void* library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
  }
  const char* reason = ::dlerror();
  fail(ErrorKind::kNotFound, "libcurl cannot be loaded: {}; install it (Debian: libcurl4)",
       reason == nullptr ? kNames[0] : reason);
}

template <typename Function>
void load_symbol(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  if (function == nullptr) {
    fail(ErrorKind::kUnsupported, "this libcurl has no {}; install version 7.62 or newer", name);
  }
}

Curl load_curl() {
  void* library = open_library();
  Curl curl{};
  load_symbol(library, "curl_global_init", curl.global_init);
  load_symbol(library, "curl_easy_init", curl.easy_init);
  load_symbol(library, "curl_easy_reset", curl.easy_reset);
  load_symbol(library, "curl_easy_cleanup", curl.easy_cleanup);
  load_symbol(library, "curl_easy_setopt", curl.easy_setopt);
  load_symbol(library, "curl_easy_perform", curl.easy_perform);
  load_symbol(library, "curl_easy_getinfo", curl.easy_getinfo);
  load_symbol(library, "curl_easy_strerror", curl.easy_strerror);
  load_symbol(library, "curl_slist_append", curl.slist_append);
  load_symbol(library, "curl_slist_free_all", curl.slist_free_all);
  load_symbol(library, "curl_url", curl.url);
  load_symbol(library, "curl_url_cleanup", curl.url_cleanup);
  load_symbol(library, "curl_url_set", curl.url_set);
  load_symbol(library, "curl_url_get", curl.url_get);
  load_symbol(library, "curl_free", curl.free);
  if (curl.global_init(CURL_GLOBAL_ALL) != CURLE_OK) {
    fail(ErrorKind::kInternal, "libcurl cannot be started; please report this");
  }
  return curl;
}

const Curl& curl() {
  static const Curl instance = load_curl();
  return instance;
}

// What one exchange leaves behind; libcurl's callbacks fill it in. No exception may pass through
// libcurl, so it waits here.
struct Exchange {
  CURL* handle;
  const HttpBody& on_body;
  HttpResponse response;
  std::exception_ptr thrown;
};

size_t on_header_line(const char* data, size_t size, size_t count, void* user) {
  auto& exchange = *static_cast<Exchange*>(user);
  const std::string_view line(data, size * count);
  try {
    // Each response, an interim one or a proxy's too, begins with its status.
    if (line.starts_with("HTTP/")) exchange.response.headers.clear();
    const size_t colon = line.find(':');
    if (colon == line.npos) return size * count;
    std::string name(trimmed(line.substr(0, colon)));
    std::ranges::transform(name, name.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    exchange.response.headers[name] = trimmed(line.substr(colon + 1));
    return size * count;
  } catch (...) {
    exchange.thrown = std::current_exception();
    return 0;
  }
}

size_t on_body_part(const char* data, size_t size, size_t count, void* user) {
  auto& exchange = *static_cast<Exchange*>(user);
  try {
    long status = 0;
    curl().easy_getinfo(exchange.handle, CURLINFO_RESPONSE_CODE, &status);
    exchange.response.status = static_cast<int>(status);
    exchange.on_body(exchange.response, as_bytes({data, size * count}));
    return size * count;
  } catch (...) {
    exchange.thrown = std::current_exception();
    return 0;
  }
}

// A machine without a network should say so at once, a connection that broke be tried again.
bool may_pass(CURLcode code) {
  constexpr std::array kPassing{
      CURLE_OPERATION_TIMEDOUT, CURLE_SEND_ERROR,  CURLE_RECV_ERROR,
      CURLE_PARTIAL_FILE,       CURLE_GOT_NOTHING, CURLE_HTTP2,
      CURLE_HTTP2_STREAM,       CURLE_HTTP3,       CURLE_WEIRD_SERVER_REPLY};
  return std::ranges::find(kPassing, code) != kPassing.end();
}

struct FreeList {
  void operator()(curl_slist* list) const { curl().slist_free_all(list); }
};
using HeaderList = std::unique_ptr<curl_slist, FreeList>;

HeaderList make_list(const std::vector<std::string>& lines) {
  HeaderList list;
  for (const std::string& line : lines) {
    curl_slist* longer = curl().slist_append(list.get(), line.c_str());
    if (longer == nullptr) throw std::bad_alloc();
    static_cast<void>(list.release());
    list.reset(longer);
  }
  return list;
}

// Called about once a second while nothing comes, and often while something does.
int stop_if_cancelled(void*, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return cancel_asked() ? 1 : 0;
}

void set_up(CURL* handle, const HttpRequest& request, curl_slist* headers, char* reason) {
  const auto set = [&](CURLoption option, auto value) {
    curl().easy_setopt(handle, option, value);
  };
  curl().easy_reset(handle);  // connections stay
  set(CURLOPT_URL, request.url.c_str());
  set(CURLOPT_HTTPHEADER, headers);
  set(CURLOPT_NOBODY, request.head ? 1L : 0L);
  const std::string agent = "fovea/" + std::string(version());
  set(CURLOPT_USERAGENT, agent.c_str());
  set(CURLOPT_ERRORBUFFER, reason);
  set(CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
  set(CURLOPT_LOW_SPEED_LIMIT, 1L);
  set(CURLOPT_LOW_SPEED_TIME, kSilentSeconds);
  set(CURLOPT_BUFFERSIZE, kBufferBytes);
  // CURLOPT_NOSIGNAL stays off: so libcurl itself sees to it that a closed connection does not end
  // the program by SIGPIPE.
  const char* certificates = std::getenv("SSL_CERT_FILE");
  if (certificates != nullptr && *certificates != 0) set(CURLOPT_CAINFO, certificates);
}

}  // namespace

std::string_view HttpResponse::header(std::string_view lower_case_name) const {
  const auto found = headers.find(std::string(lower_case_name));
  return found == headers.end() ? std::string_view() : found->second;
}

void HttpClient::Free::operator()(void* handle) const {
  curl().easy_cleanup(handle);
}

HttpClient::HttpClient() : handle_(curl().easy_init()) {
  if (handle_ == nullptr) fail(ErrorKind::kInternal, "libcurl cannot be started");
}

HttpResponse HttpClient::send(const HttpRequest& request, const HttpBody& on_body) {
  CURL* handle = handle_.get();
  Exchange exchange{.handle = handle, .on_body = on_body, .response = {}, .thrown = {}};
  const HeaderList headers = make_list(request.headers);
  char reason[CURL_ERROR_SIZE] = "";
  set_up(handle, request, headers.get(), reason);
  curl().easy_setopt(handle, CURLOPT_HEADERFUNCTION, on_header_line);
  curl().easy_setopt(handle, CURLOPT_HEADERDATA, &exchange);
  curl().easy_setopt(handle, CURLOPT_WRITEFUNCTION, on_body_part);
  curl().easy_setopt(handle, CURLOPT_WRITEDATA, &exchange);
  curl().easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
  curl().easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, stop_if_cancelled);

  const CURLcode code = curl().easy_perform(handle);
  curl().easy_setopt(handle, CURLOPT_ERRORBUFFER, nullptr);
  if (exchange.thrown) std::rethrow_exception(exchange.thrown);
  if (code == CURLE_ABORTED_BY_CALLBACK) check_cancelled();
  HttpResponse response = std::move(exchange.response);
  long status = 0;
  curl().easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
  response.status = static_cast<int>(status);
  char* redirect = nullptr;
  curl().easy_getinfo(handle, CURLINFO_REDIRECT_URL, &redirect);
  if (redirect != nullptr) response.redirect = redirect;
  if (code != CURLE_OK) {
    response.failure = reason[0] != '\0' ? reason : curl().easy_strerror(code);
    response.worth_retry = may_pass(code);
  }
  return response;
}

HttpOrigin http_origin(const std::string& url) {
  const std::unique_ptr<CURLU, decltype(&::curl_url_cleanup)> parsed(curl().url(),
                                                                     curl().url_cleanup);
  if (parsed == nullptr) throw std::bad_alloc();
  if (curl().url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0) != CURLUE_OK) return {};
  const auto part = [&](CURLUPart which) {
    char* text = nullptr;
    if (curl().url_get(parsed.get(), which, &text, CURLU_DEFAULT_PORT) != CURLUE_OK) {
      return std::string();
    }
    std::string copy = text;
    curl().free(text);
    return copy;
  };
  HttpOrigin origin{part(CURLUPART_SCHEME), part(CURLUPART_HOST), part(CURLUPART_PORT)};
  std::ranges::transform(origin.host, origin.host.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  if (origin.scheme != "http" && origin.scheme != "https") return {};
  return origin;
}

}  // namespace fovea
