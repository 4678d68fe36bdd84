// Text within HTML and XML.
#pragma once

#include <string>
#include <string_view>

namespace fovea {

// & < > and " as entities: safe between tags and in quoted attributes.
std::string escape_markup(std::string_view text);

}  // namespace fovea
