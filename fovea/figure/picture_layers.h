// Shows a picture's heads and layers over the picture: which head is strongest where, and how far a
// patch looks through more and more layers.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "fovea/explain/pictures/mass_mask.h"
#include "fovea/explain/pictures/receptive_field.h"
#include "fovea/figure/picture_view.h"

namespace fovea {

// The masks of all heads of one layer, put together.
struct Composite {
  PatchMaps maps;
  HeadMasks masks;
  double share = 0;  // share of a head's weight on patches that its mask holds

  double owned(size_t head) const;    // share of patches where the head is the strongest
  double covered(size_t head) const;  // share of patches in its mask
};

// Throws as patch_maps() does.
Composite composite_of(const Run& run, const PictureChoice& choice, double share);
// Draws each patch in the colour of the head that is strongest there.
CompositeFigure composite_figure(const Run& run, const Composite& composite, const Picture& picture,
                                 const PatchGrid& grid);

// The fewest patches that hold `share` of what [CLS] (or the pooling head) gives to patches.
struct MassMasks {
  std::vector<GridMask> heads;
  GridMask mean;  // for the mean of heads
};
MassMasks find_mass_masks(const Run& run, std::optional<int64_t> layer, double share);

// What reaches a patch through the first `layers` layers, by attention rollout.
struct FieldDepth {
  int64_t layers = 0;
  std::vector<double> weights;  // one per patch
  ReceptiveField field;         // in patches
};
struct PatchFields {
  SiteKind kind = SiteKind::kSelf;
  int64_t patch = 0;
  GridShape grid;
  int64_t side = 0;  // a patch's side, in pixels of the model's input
  std::vector<FieldDepth> depths;

  double pixels(double patches) const { return static_cast<double>(side) * patches; }
  CellMark place() const { return {grid.row_of(patch), grid.col_of(patch)}; }
};

// Computes this through one layer, two, ... all. If there are many layers, some evenly spaced ones.
// Without a patch, for the one in the middle.
PatchFields patch_fields(const Run& run, std::optional<int64_t> patch, int64_t side);
// A panel for each depth: how many times an even share of the positions reaches the patch from
// each.
ImageFigure field_figure(const Run& run, const PatchFields& fields, const Picture& picture,
                         const PatchGrid& grid);

}  // namespace fovea
