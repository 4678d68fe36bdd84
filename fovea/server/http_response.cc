#include "fovea/server/http_response.h"

#include <fmt/core.h>

#include <array>
#include <ctime>

namespace fovea {
namespace {

struct StatusName {
  int status;
  std::string_view reason;
};
constexpr std::array kStatusNames = {
    StatusName{200, "OK"},
    StatusName{204, "No Content"},
    StatusName{304, "Not Modified"},
    StatusName{400, "Bad Request"},
    StatusName{401, "Unauthorized"},
    StatusName{403, "Forbidden"},
    StatusName{404, "Not Found"},
    StatusName{405, "Method Not Allowed"},
    StatusName{406, "Not Acceptable"},
    StatusName{408, "Request Timeout"},
    StatusName{410, "Gone"},
    StatusName{411, "Length Required"},
    StatusName{413, "Content Too Large"},
    StatusName{414, "URI Too Long"},
    StatusName{415, "Unsupported Media Type"},
    StatusName{417, "Expectation Failed"},
    StatusName{422, "Unprocessable Content"},
    StatusName{431, "Request Header Fields Too Large"},
    StatusName{499, "Client Closed Request"},
    StatusName{500, "Internal Server Error"},
    StatusName{501, "Not Implemented"},
    StatusName{503, "Service Unavailable"},
    StatusName{505, "HTTP Version Not Supported"},
    StatusName{507, "Insufficient Storage"},
};

std::string date_now() {
  constexpr size_t kRoom = 40;
  std::array<char, kRoom> text{};
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  const size_t length =
      std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  return {text.data(), length};
}

}  // namespace

std::string_view reason_of(int status) {
  for (const StatusName& each : kStatusNames) {
    if (each.status == status) return each.reason;
  }
  return "Error";
}

WebResponse json_response(const Json& json, int status) {
  return {.status = status, .body = std::make_shared<const std::string>(json.dump() + "\n")};
}

WebResponse bytes_response(std::string bytes, std::string_view type) {
  return {.type = std::string(type), .body = std::make_shared<const std::string>(std::move(bytes))};
}

Json error_json(const Error& error) {
  Json inner = Json::object({{"kind", answer_to(error.kind()).name}});
  if (!error.field().empty()) inner.set("field", error.field());
  inner.set("message", error.what());
  return Json::object({{"error", std::move(inner)}});
}

WebResponse error_response(const Error& error) {
  return json_response(error_json(error), answer_to(error.kind()).http_status);
}

WebResponse problem_response(int status, std::string_view message) {
  std::string kind(reason_of(status));
  for (char& letter : kind) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return json_response(
      Json::object({{"error", Json::object({{"kind", kind}, {"message", message}})}}), status);
}

std::string response_head(const WebResponse& response, bool keep_alive, bool chunked) {
  std::string head = fmt::format("HTTP/1.1 {} {}\r\nDate: {}\r\n", response.status,
                                 reason_of(response.status), date_now());
  if (response.status != 304) head += fmt::format("Content-Type: {}\r\n", response.type);
  if (chunked) {
    head += "Transfer-Encoding: chunked\r\n";
  } else if (response.status != 304) {
    head += fmt::format("Content-Length: {}\r\n", response.body ? response.body->size() : 0);
  }
  if (!keep_alive) head += "Connection: close\r\n";
  bool says_caching = false;
  for (const auto& [name, value] : response.headers) {
    says_caching |= name == "Cache-Control";
    head += fmt::format("{}: {}\r\n", name, value);
  }
  if (!says_caching) head += "Cache-Control: no-store\r\n";
  head +=
      "X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n"
      "Cross-Origin-Resource-Policy: same-origin\r\nCross-Origin-Opener-Policy: "
      "same-origin\r\n\r\n";
  return head;
}

}  // namespace fovea
