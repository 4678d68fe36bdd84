// One HTTP request and its answer. libcurl does the work, in http.cc only, and is loaded when the
// first client is made: linking it would cost every start of the program more than all the rest
// (docs/adr/0010-libcurl-on-demand.md).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/base/file.h"

namespace fovea {

struct HttpRequest {
  std::string url;
  std::vector<std::string> headers;  // "Name: value"
  bool head = false;                 // HEAD instead of GET
};

struct HttpResponse {
  int status = 0;                              // 0: no answer came
  std::map<std::string, std::string> headers;  // names in lower case
  std::string redirect;      // where a 3xx answer leads, as a whole address; otherwise empty
  std::string failure;       // why the answer did not come, or not all of it; empty if it did
  bool worth_retry = false;  // the failure may pass: a cut connection, not an unknown host

  std::string_view header(std::string_view lower_case_name) const;  // empty if it is not there
};

// Gets the body in parts, with the status and the headers. What it throws comes out of send().
using HttpBody = std::function<void(const HttpResponse&, Bytes)>;

// Keeps its connection between requests. One thread at a time.
class HttpClient {
 public:
  // Throws Error{kNotFound} if there is no libcurl.
  HttpClient();

  // Does not follow redirects: who does decides what to tell the next host. Waits at most 30 s for
  // a connection, and 60 s for a byte.
  HttpResponse send(const HttpRequest& request, const HttpBody& on_body);

 private:
  struct Free {
    void operator()(void* handle) const;
  };
  std::unique_ptr<void, Free> handle_;
};

// The parts of an address that decide who hears a request. Empty if it is not http or https.
struct HttpOrigin {
  std::string scheme, host, port;
  bool operator==(const HttpOrigin&) const = default;
  bool empty() const { return host.empty(); }
};
HttpOrigin http_origin(const std::string& url);

}  // namespace fovea
