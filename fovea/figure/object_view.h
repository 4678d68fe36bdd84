// Shows an object that was found in a picture without training, and how it was found.
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
  SiteId site;                 // the attention whose keys found it
  std::string map;             // what `values` are: "similar patches"
  std::string seed_rule;       // which patch is the seed, for the caption
  std::string rule;            // which patches are foreground, for the caption
  std::vector<double> values;  // one per patch
  int64_t seed = 0;
  GridMask foreground;
  GridMask mask;          // the foreground's part around the seed
  GridBox box;            // the mask's box
  std::string note = {};  // a remark; empty: none
};

// Finds the object by the keys of one layer, or of the last. Throws as picture_record() does, and
// Error{kInvalidArgument} if the grid has a single patch.
FoundObject find_lost(const Run& run, std::optional<int64_t> layer);
FoundObject find_token_cut(const Run& run, std::optional<int64_t> layer);

// Draws three panels over the part of the picture that the model saw: the values with the seed
// framed, the foreground, and the object with its box. Colours run from the smallest value or 0 to
// the largest.
ImageFigure object_view(const Run& run, const FoundObject& object, const Picture& picture,
                        const PatchGrid& grid);
// The values, and both masks, as numbers.
MapData object_numbers(const FoundObject& object, const FigureText& text);

}  // namespace fovea
