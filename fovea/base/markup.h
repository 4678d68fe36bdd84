// Escapes text for HTML and XML.
#pragma once

#include <string>
#include <string_view>

namespace fovea {

// Writes & < and > as entities, which is safe between tags.
std::string escape_text(std::string_view text);
// Escapes quotes too, which is also safe inside a quoted attribute.
std::string escape_attribute(std::string_view text);

}  // namespace fovea
