#include "fovea/figure/head_marks.h"

#include <algorithm>
#include <array>

namespace fovea {

const HeadMark* find_head_mark(std::string_view kind) {
  static constexpr std::array<HeadMark, 10> kMarks{{{"current token", "C", 0},
                                                    {"previous token", "P", 1},
                                                    {"positional", "O", 9},
                                                    {"induction", "I", 2},
                                                    {"duplicate token", "D", 3},
                                                    {"sink", "S", 7},
                                                    {"delimiter", "L", 6},
                                                    {"retrieval", "R", 10},
                                                    {"broad", "B", 8},
                                                    {"confident", "F", 11}}};
  const auto found = std::ranges::find_if(
      kMarks, [&](const HeadMark& mark) { return kind.starts_with(mark.kind); });
  return found == kMarks.end() ? nullptr : &*found;
}

}  // namespace fovea
