// The files of the page, from the program itself.
#pragma once

#include "fovea/server/http_request.h"
#include "fovea/server/http_response.h"

namespace fovea {

struct ServerState;

// What a file of this name is, by a table of our own: that of a system may say something else.
std::string_view mime_type_of(std::string_view path);

// Throws HttpProblem 404.
WebResponse static_response(const WebRequest& request, ServerState& state);

}  // namespace fovea
