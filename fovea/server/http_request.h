// A request as HTTP/1.1 has it, read from the bytes of its head. Strict: what a browser or curl
// would never send is refused, because two readers may understand it differently.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace fovea {

// A request that is refused for its form, or for what HTTP says about it. What a question asks
// wrongly is an Error.
class HttpProblem : public std::runtime_error {
 public:
  HttpProblem(int status, const std::string& message)
      : std::runtime_error(message), status_(status) {}
  int status() const noexcept { return status_; }

 private:
  int status_;
};

struct HttpLimits {
  size_t line = size_t{8} << 10;   // of the request line
  size_t head = size_t{32} << 10;  // of the request line and all header fields
  size_t fields = 100;             // header fields
};

struct WebRequest {
  std::string method;              // "GET"; HEAD too
  std::string path;                // decoded; begins with '/'
  std::vector<std::string> parts;  // of the path, between its slashes, each decoded
  std::map<std::string, std::string, std::less<>> query;
  std::map<std::string, std::string, std::less<>> headers;  // names in lower case
  bool keep_alive = true;
  bool wants_continue = false;  // "Expect: 100-continue"
  bool is_1_0 = false;
  std::optional<uint64_t> length;  // of the body, if the head names one
  std::string body;
  bool from_here = true;  // from this machine

  bool is_get() const { return method == "GET" || method == "HEAD"; }
  // Empty if there is no such field.
  std::string_view header(std::string_view name) const;
  // Null if the query does not name it.
  const std::string* find_query(std::string_view name) const;
};

// How many bytes of `bytes` are the head with the empty line at its end; none if it is not whole
// yet. Throws HttpProblem for one that is too long.
std::optional<size_t> find_head_end(std::string_view bytes, const HttpLimits& limits = {});

// Reads a head that find_head_end() found. Throws HttpProblem.
WebRequest parse_http_head(std::string_view head, const HttpLimits& limits = {});

// "%2Fa" as "/a". None where it is no such text, and where it stands for no UTF-8 or for a control
// character.
std::optional<std::string> percent_decoded(std::string_view text, bool plus_is_space);

}  // namespace fovea
