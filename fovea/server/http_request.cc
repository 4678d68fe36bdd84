#include "fovea/server/http_request.h"

#include <fmt/core.h>

#include <algorithm>

#include "fovea/base/parse.h"
#include "fovea/base/utf8.h"

namespace fovea {
namespace {

constexpr std::string_view kLineEnd = "\r\n";

bool is_token_letter(char letter) {
  constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";
  return (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'z') ||
         (letter >= 'A' && letter <= 'Z') || kOthers.find(letter) != kOthers.npos;
}

bool is_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_token_letter);
}

bool has_control(std::string_view text) {
  return std::ranges::any_of(text, [](char letter) {
    const auto byte = static_cast<unsigned char>(letter);
    return (byte < 0x20 && letter != '\t') || byte == 0x7f;
  });
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& letter : result) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return result;
}

// Cuts off what stands in front of the next separator, or all of it.
std::string_view next_piece(std::string_view& text, std::string_view separator) {
  const size_t end = text.find(separator);
  const std::string_view piece = text.substr(0, end);
  text = end == text.npos ? std::string_view() : text.substr(end + separator.size());
  return piece;
}

int hex_digit(char letter) {
  if (letter >= '0' && letter <= '9') return letter - '0';
  if (letter >= 'a' && letter <= 'f') return letter - 'a' + 10;
  if (letter >= 'A' && letter <= 'F') return letter - 'A' + 10;
  return -1;
}

void read_query(std::string_view text, WebRequest& request) {
  while (!text.empty()) {
    std::string_view pair = next_piece(text, "&");
    if (pair.empty()) continue;
    const auto name = percent_decoded(next_piece(pair, "="), true);
    const auto value = percent_decoded(pair, true);
    if (!name || !value) throw HttpProblem(400, "the query is not encoded as URLs are");
    if (!request.query.emplace(*name, *value).second) {
      throw HttpProblem(400, fmt::format("the query names {} twice", quote_name(*name)));
    }
  }
}

void read_target(std::string_view target, WebRequest& request) {
  if (target.empty() || target.front() != '/') {
    throw HttpProblem(400, "the address must begin with a slash");
  }
  std::string_view query = target;
  std::string_view path = next_piece(query, "?");
  if (target.find('#') != target.npos) throw HttpProblem(400, "an address holds no '#'");
  path.remove_prefix(1);
  while (!path.empty()) {
    const auto part = percent_decoded(next_piece(path, "/"), false);
    // A part that holds a slash, or leads up, has no business in any route.
    if (!part || part->empty() || *part == "." || *part == ".." ||
        part->find_first_of("/\\") != part->npos) {
      throw HttpProblem(400,
                        "a part of the path is empty, leads elsewhere or is not encoded as "
                        "URLs are");
    }
    request.parts.push_back(*part);
  }
  for (const std::string& part : request.parts) request.path += "/" + part;
  if (request.parts.empty()) request.path = "/";
  read_query(query, request);
}

void read_line(std::string_view line, WebRequest& request) {
  std::string_view rest = line;
  request.method = next_piece(rest, " ");
  const std::string_view target = next_piece(rest, " ");
  if (!is_token(request.method) || target.empty() || !rest.starts_with("HTTP/")) {
    throw HttpProblem(400, "the first line is not that of an HTTP request");
  }
  if (rest != "HTTP/1.1" && rest != "HTTP/1.0") {
    const bool is_version = rest.size() == 8 && rest[6] == '.' && rest[5] >= '0' &&
                            rest[5] <= '9' && rest[7] >= '0' && rest[7] <= '9';
    throw HttpProblem(is_version ? 505 : 400, "the server speaks HTTP/1.1");
  }
  request.is_1_0 = rest == "HTTP/1.0";
  request.keep_alive = !request.is_1_0;
  const bool plain = std::ranges::all_of(target, [](char c) { return c > 0x20 && c < 0x7f; });
  if (!plain) throw HttpProblem(400, "the address holds letters that must be encoded");
  constexpr std::string_view kMethods[] = {"GET",     "HEAD",    "POST",  "PUT",  "DELETE",
                                           "OPTIONS", "CONNECT", "TRACE", "PATCH"};
  if (std::ranges::count(kMethods, request.method) == 0) {
    throw HttpProblem(
        501, fmt::format("{} is no method that the server knows", quote_name(request.method)));
  }
  if (request.method == "CONNECT" || target == "*") {
    throw HttpProblem(405, "the server is no proxy");
  }
  read_target(target, request);
}

void read_field(std::string_view line, const HttpLimits& limits, WebRequest& request) {
  const size_t colon = line.find(':');
  if (colon == line.npos || !is_token(line.substr(0, colon))) {
    throw HttpProblem(400, "a header field has no name");
  }
  if (has_control(line)) throw HttpProblem(400, "a header field holds control characters");
  const std::string name = lower(line.substr(0, colon));
  const std::string_view value = trimmed(line.substr(colon + 1));
  if (request.headers.size() >= limits.fields) {
    throw HttpProblem(431, fmt::format("there are more than {} header fields", limits.fields));
  }
  const auto [found, is_new] = request.headers.emplace(name, value);
  if (is_new) return;
  constexpr std::string_view kOnce[] = {"host",   "content-length", "transfer-encoding",
                                        "origin", "authorization",  "content-type",
                                        "expect"};
  if (std::ranges::count(kOnce, name) > 0) {
    throw HttpProblem(400, fmt::format("the header field {} stands there twice", name));
  }
  found->second += ", " + std::string(value);
}

bool names(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    if (lower(trimmed(next_piece(list, ","))) == word) return true;
  }
  return false;
}

// What the header fields say about the message itself.
void read_framing(WebRequest& request) {
  if (!request.is_1_0 && request.headers.count("host") == 0) {
    throw HttpProblem(400, "there is no Host");
  }
  if (request.headers.count("transfer-encoding") > 0) {
    throw HttpProblem(411, "a body needs a Content-Length; the server takes none in chunks");
  }
  if (const auto length = request.headers.find("content-length"); length != request.headers.end()) {
    const bool digits =
        !length->second.empty() && length->second.size() <= 18 &&
        std::ranges::all_of(length->second, [](char c) { return c >= '0' && c <= '9'; });
    if (!digits) throw HttpProblem(400, "Content-Length is no number");
    request.length = parse_number<uint64_t>(length->second);
  }
  const std::string_view connection = request.header("connection");
  if (names(connection, "close")) request.keep_alive = false;
  if (request.is_1_0 && names(connection, "keep-alive")) request.keep_alive = true;
  if (const std::string_view expect = request.header("expect"); !expect.empty()) {
    if (lower(expect) != "100-continue")
      throw HttpProblem(417, "only 100-continue can be expected");
    request.wants_continue = true;
  }
}

}  // namespace

std::string_view WebRequest::header(std::string_view name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? std::string_view() : std::string_view(found->second);
}

const std::string* WebRequest::find_query(std::string_view name) const {
  const auto found = query.find(name);
  return found == query.end() ? nullptr : &found->second;
}

std::optional<std::string> percent_decoded(std::string_view text, bool plus_is_space) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      result.push_back(plus_is_space && text[i] == '+' ? ' ' : text[i]);
      continue;
    }
    const int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
    if (high < 0 || low < 0) return {};
    result.push_back(static_cast<char>(high * 16 + low));
    i += 2;
  }
  if (has_control(result) || find_invalid_utf8(result) != std::string_view::npos) return {};
  return result;
}

std::optional<size_t> find_head_end(std::string_view bytes, const HttpLimits& limits) {
  const size_t line = bytes.find(kLineEnd);
  if (std::min(line, bytes.size()) > limits.line) {
    throw HttpProblem(414, fmt::format("the address is longer than {} bytes", limits.line));
  }
  const size_t end = bytes.find("\r\n\r\n");
  if (std::min(end, bytes.size()) > limits.head) {
    throw HttpProblem(431, fmt::format("the head is longer than {} bytes", limits.head));
  }
  // Nothing that the server speaks begins so; waiting for the rest would only hold a connection.
  if (!bytes.empty() && !is_token_letter(bytes.front())) {
    throw HttpProblem(400, "this is no HTTP request");
  }
  if (end == bytes.npos) return {};
  return end + 4;
}

WebRequest parse_http_head(std::string_view head, const HttpLimits& limits) {
  WebRequest request;
  std::string_view rest = head;
  const std::string_view first = next_piece(rest, kLineEnd);
  read_line(first, request);
  while (!rest.empty()) {
    const std::string_view line = next_piece(rest, kLineEnd);
    if (line.empty()) break;
    read_field(line, limits, request);
  }
  read_framing(request);
  return request;
}

}  // namespace fovea
