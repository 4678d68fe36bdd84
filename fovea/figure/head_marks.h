// One sign for each kind of head (explain/head_numbers.h), for pictures too small for its name.
#pragma once

#include <cstdint>
#include <string_view>

namespace fovea {

struct HeadMark {
  std::string_view kind;
  std::string_view sign;
  int64_t color = 0;  // of category_color()
};
// That of the kind, whose name may go on ("positional +2"); null for no kind of its own.
const HeadMark* find_head_mark(std::string_view kind);

}  // namespace fovea
