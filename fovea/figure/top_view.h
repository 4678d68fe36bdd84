// The largest weights of rows, or of one column, as lists with names.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fovea/atlas/top_weights.h"
#include "fovea/figure/view.h"

namespace fovea {

// A position of an axis, by its number and a name that no other has: "the·2".
struct NamedPosition {
  int64_t index = 0;
  std::string name;
};

struct RankedWeight {
  NamedPosition position;
  double weight = 0;
  double times_even = 0;
  bool special = false;
};

// Of one row what it attends to most, or of a column who attends to it most; largest first.
struct TopList {
  NamedPosition position;
  std::vector<RankedWeight> weights;

  double sum() const;
};

struct TopLists {
  std::vector<TopList> lists;
  TableFigure figure;
};

// A figure shows so many lists, and no more are made unless the choice wants all (`exact`).
inline constexpr size_t kMostLists = 64;

// Lists of `count` weights each: of the token's row or column, or of every row. A part of the map
// lists those rows, and of them what lies in those columns. Throws as matrix_view() does.
TopLists top_view(const Run& run, const ViewChoice& choice, int64_t count);

}  // namespace fovea
