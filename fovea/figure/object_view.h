// One object that was found in a picture without training, and what it was found by.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fovea/capture/run.h"
#include "fovea/explain/pictures/grid_mask.h"
#include "fovea/figure/figure.h"
#include "fovea/figure/map_data.h"
#include "fovea/vision/patch_grid.h"

namespace fovea {

struct FoundObject {
  std::string method;          // "LOST"
  SiteId site;                 // whose keys it was found in
  std::string map;             // what `values` are: "similar patches"
  std::string seed_rule;       // which patch is the seed, for the caption
  std::string rule;            // which patches are foreground, for the same
  std::vector<double> values;  // of every patch
  int64_t seed = 0;
  GridMask foreground;
  GridMask mask;          // the part of it around the seed
  GridBox box;            // of that
  std::string note = {};  // what to tell beside it; empty: nothing
};

// Of the keys of one layer, or of the last. Throw as picture_record() does, and
// Error{kInvalidArgument} if the grid has a single patch.
FoundObject find_lost(const Run& run, std::optional<int64_t> layer);
FoundObject find_token_cut(const Run& run, std::optional<int64_t> layer);

// The values with the seed framed, the foreground, and the object with its box, over the part of
// the picture that the model saw. Values are drawn from their smallest or 0 to their largest.
ImageFigure object_view(const Run& run, const FoundObject& object, const Picture& picture,
                        const PatchGrid& grid);
// The values as they are, and both masks.
MapData object_numbers(const FoundObject& object, const FigureText& text);

}  // namespace fovea
