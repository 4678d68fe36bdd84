#include "fovea/webfiles/viewer.h"

#include <cstddef>
#include <span>

#include "fovea/base/file.h"

namespace fovea {

// Made by cmake/FoveaEmbed.cmake.
std::span<const std::byte> embedded_viewer_js();
std::span<const std::byte> embedded_viewer_css();

std::string_view viewer_script() {
  return as_text(embedded_viewer_js());
}

std::string_view viewer_style() {
  return as_text(embedded_viewer_css());
}

}  // namespace fovea
