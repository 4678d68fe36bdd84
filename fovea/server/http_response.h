// What a request is answered with.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/base/json.h"

namespace fovea {

struct WebResponse {
  int status = 200;
  std::string type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::shared_ptr<const std::string> body = nullptr;  // shared with caches; null: empty
};

std::string_view reason_of(int status);  // "Not Found"

WebResponse json_response(const Json& json, int status = 200);
WebResponse bytes_response(std::string bytes, std::string_view type);
// {"error": {"kind", "field", "message"}}; without a field for most.
Json error_json(const Error& error);
WebResponse error_response(const Error& error);
WebResponse problem_response(int status, std::string_view message);

// The status line and the header fields with the empty line behind them. `chunked`: the body comes
// in pieces, as long as it likes.
std::string response_head(const WebResponse& response, bool keep_alive, bool chunked);

}  // namespace fovea
