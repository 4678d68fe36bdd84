// Answers that never change: a browser keeps them, and asks again only by their tag.
#pragma once

#include <string>

#include "fovea/server/http_request.h"
#include "fovea/server/http_response.h"

namespace fovea {

// The tag of what this address answers, for as long as the program writes it so.
std::string tag_of(const HttpRequest& request);
// Whether the client has it already.
bool has_tag(const HttpRequest& request, const std::string& tag);
HttpResponse not_modified(const std::string& tag);
// Marks the answer as one that never changes.
HttpResponse immutable(HttpResponse response, const std::string& tag);

}  // namespace fovea
