// Answers that never change: a browser keeps them, and asks again only by their tag.
#pragma once

#include <string>

#include "fovea/server/http_request.h"
#include "fovea/server/http_response.h"

namespace fovea {

// The tag of what this address answers, for as long as the program writes it so.
std::string tag_of(const WebRequest& request);
// Whether the client has it already.
bool has_tag(const WebRequest& request, const std::string& tag);
WebResponse not_modified(const std::string& tag);
// Marks the answer as one that never changes.
WebResponse immutable(WebResponse response, const std::string& tag);

}  // namespace fovea
