// The viewer of standalone pages, made from web/ and kept in the program. web/README.md says how.
#pragma once

#include <string_view>

namespace fovea {

std::string_view viewer_script();  // JavaScript without "</script"
std::string_view viewer_style();   // CSS without "</style"

}  // namespace fovea
