// Text within HTML and XML.
#pragma once

#include <string>
#include <string_view>

namespace fovea {

// & < and > as entities: safe between tags.
std::string escape_text(std::string_view text);
// Quotes too: also safe in a quoted attribute.
std::string escape_attribute(std::string_view text);

}  // namespace fovea
