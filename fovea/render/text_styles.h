// Letters that look the same in every figure; a style of one figure stands in its file.
#pragma once

#include "fovea/render/canvas.h"
#include "fovea/render/text_block.h"

namespace fovea {

inline constexpr TextStyle kPanelStyle{.size = 10.5, .color = kInk, .strong = true};
inline constexpr TextStyle kNoteStyle{.size = 10, .color = kMuted};    // below or beside a panel
inline constexpr TextStyle kNumberStyle{.size = 10, .color = kMuted};  // of an axis
inline constexpr TextStyle kKeyStyle{.size = 10.5, .color = kInk};

}  // namespace fovea
