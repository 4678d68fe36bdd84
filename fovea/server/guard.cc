#include "fovea/server/guard.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"

namespace fovea {
namespace {

constexpr std::string_view kCookie = "fovea-token";

// The name in "name:port" and "[::1]:port", in lower case.
std::string name_of_host(std::string_view host) {
  if (host.starts_with('[')) {
    host = host.substr(1, std::min(host.find(']'), host.size()) - 1);
  } else {
    host = host.substr(0, host.find(':'));
  }
  std::string name(host);
  for (char& letter : name) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return name;
}

// An address cannot be made to lead elsewhere, as a name can.
bool is_address(const std::string& name) {
  in6_addr parsed{};
  return ::inet_pton(AF_INET, name.c_str(), &parsed) == 1 ||
         ::inet_pton(AF_INET6, name.c_str(), &parsed) == 1;
}

std::string own_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name_of_host(name.data())
                                                          : std::string();
}

std::string_view cookie_value(std::string_view cookies) {
  while (!cookies.empty()) {
    std::string_view each = cookies.substr(0, cookies.find(';'));
    cookies.remove_prefix(std::min(each.size() + 1, cookies.size()));
    while (each.starts_with(' ')) each.remove_prefix(1);
    if (each.starts_with(kCookie) && each.substr(kCookie.size()).starts_with('=')) {
      return each.substr(kCookie.size() + 1);
    }
  }
  return {};
}

}  // namespace

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  size_t difference = a.size() ^ b.size();
  for (size_t i = 0; i < b.size(); ++i) {
    const char left = a.empty() ? '\0' : a[i % a.size()];
    difference |= static_cast<unsigned char>(left ^ b[i]);
  }
  return difference == 0;
}

std::string random_token() {
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    fail(ErrorKind::kIo, "the system gives no random numbers for a token; choose one yourself");
  }
  std::string text;
  for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

bool is_loopback_name(std::string_view host) {
  const std::string name = name_of_host(host);
  return name == "localhost" || name.ends_with(".localhost") || name == "::1" ||
         (name.starts_with("127.") && is_address(name));
}

void Guard::check_host(const WebRequest& request) const {
  const std::string_view host = request.header("host");
  if (request.is_1_0 && host.empty()) return;
  const std::string name = name_of_host(host);
  if (is_loopback_name(host)) return;
  const bool is_open = !is_loopback_name(options_.host);
  const bool ours = name == name_of_host(options_.host) || is_address(name) || name == own_name();
  if (is_open && ours) return;
  throw HttpProblem(403, fmt::format("this server is not {}; open it by the address that it said "
                                     "when it was started",
                                     quote_name(host)));
}

void Guard::check_origin(const WebRequest& request) const {
  const std::string_view origin = request.header("origin");
  const bool other_origin =
      !origin.empty() && origin != fmt::format("http://{}", request.header("host"));
  const std::string_view site = request.header("sec-fetch-site");
  const bool follows_link = request.is_get() && request.header("sec-fetch-mode") == "navigate";
  if (other_origin || ((site == "cross-site" || site == "same-site") && !follows_link)) {
    throw HttpProblem(403, "a page of another site may not ask here");
  }
  if (request.method != "POST") return;
  // What a form of any page can send needs no leave of ours.
  const std::string_view type = request.header("content-type");
  for (const std::string_view form :
       {"application/x-www-form-urlencoded", "multipart/form-data", "text/plain"}) {
    if (type.starts_with(form)) {
      throw HttpProblem(415, fmt::format("a body of {} is not taken; send application/json, or a "
                                         "file as application/octet-stream",
                                         form));
    }
  }
  if (type.empty() && request.length.value_or(0) > 0) {
    throw HttpProblem(415, "a body needs a Content-Type: application/json, or that of the file");
  }
}

bool Guard::brings_token(const WebRequest& request) const {
  constexpr std::string_view kBearer = "Bearer ";
  const std::string_view authorization = request.header("authorization");
  if (authorization.starts_with(kBearer)) {
    return equal_in_constant_time(authorization.substr(kBearer.size()), options_.token);
  }
  if (const std::string* token = request.find_query("token")) {
    return equal_in_constant_time(*token, options_.token);
  }
  return equal_in_constant_time(cookie_value(request.header("cookie")), options_.token);
}

void Guard::check(const WebRequest& request) const {
  check_host(request);
  check_origin(request);
  const bool is_public = request.parts.empty() || request.parts.front() != "v1";
  if (is_public || options_.token.empty() || brings_token(request)) return;
  throw HttpProblem(401,
                    "this needs the token that stands in the address that the server said "
                    "when it was started");
}

std::string Guard::cookie(const WebRequest& request) const {
  const bool given = !options_.token.empty() && request.find_query("token") != nullptr;
  if (!given || !brings_token(request)) return {};
  return fmt::format("{}={}; Path=/; HttpOnly; SameSite=Strict", kCookie, options_.token);
}

}  // namespace fovea
