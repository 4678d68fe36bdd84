// What of a run a saved page holds, and where it opens.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "fovea/figure/view.h"

namespace fovea {

struct PageOptions {
  // What the page holds: one kind, layer or head if the choice names it, else all. The token, the
  // column, mean or max of heads and what is drawn in which colours only say where the page opens.
  ViewChoice choice;
  std::string view;    // matrix, read or heads; empty: matrix, or read with a token
  std::string colors;  // a name of color_map.h; empty: what suits the view
  std::string title;   // empty: model and kind of attention
  // The map that it opens at; none: the last layer and first head of the run's first kind.
  std::optional<SiteKind> opens_at;
  std::optional<int> opens_at_layer;
  std::optional<int64_t> opens_at_head;
};

}  // namespace fovea
