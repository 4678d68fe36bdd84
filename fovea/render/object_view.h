// One object that was found in a picture without training, and what it was found by.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fovea/capture/run.h"
#include "fovea/explain/pictures/grid_mask.h"
#include "fovea/render/figure.h"
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
  GridMask mask;  // the part of it around the seed
  GridBox box;    // of that
};

// The values with the seed framed, the foreground, and the object with its box, over the part of
// the picture that the model saw. Values are drawn from their smallest or 0 to their largest.
ImageFigure object_view(const Run& run, const FoundObject& object, const Picture& picture,
                        const PatchGrid& grid);

}  // namespace fovea
