// What a terminal shows of a drawing.
#pragma once

#include <string>

#include "fovea/cli/draw/text.h"
#include "fovea/cli/terminal.h"

namespace fovea {

inline constexpr ColorMode kModes[] = {ColorMode::kNone, ColorMode::k256, ColorMode::kTrue};

inline std::string without_colors(const std::string& text) {
  std::string plain;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\x1b') {
      at = text.find('m', at);
    } else {
      plain += text[at];
    }
  }
  return plain;
}

}  // namespace fovea
