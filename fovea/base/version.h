// Which fovea this is.
#pragma once

#include <string_view>

namespace fovea {

std::string_view version();  // "0.1.0"

}  // namespace fovea
