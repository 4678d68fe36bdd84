// Finds the area of one object by attention. Weights over the cells of a picture are cut at a
// threshold on the grid, then enlarged to pixels. They come from a row of encoder attention (what
// the object's centre attends to) or of cross-attention (what its query attends to). A mask head
// gives logits instead.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/explain/pictures/pixel_mask.h"

namespace fovea {

enum class MaskCut {
  kOtsu,     // Otsu's threshold (Chefer et al. 2021, arXiv:2103.15679, for DETR)
  kMass,     // the fewest cells that hold a share of the sum
  kMaximum,  // cells of at least a share of the largest weight
};

struct MaskRule {
  MaskCut cut = MaskCut::kOtsu;
  double share = 0;  // for kMass and kMaximum; 0: default_share()
};

double default_share(MaskCut cut);      // 0.6 of the mass, 0.25 of the maximum; 0 for Otsu
std::string_view name_of(MaskCut cut);  // "otsu", "mass", "maximum"
// "otsu", "mass", "mass:0.8", "maximum:0.5". Throws Error{kInvalidArgument} that lists the names,
// or on a share outside of (0, 1].
MaskRule parse_mask_rule(std::string_view text);
std::string to_string(const MaskRule& rule);  // what parse_mask_rule() reads

// The cells that the rule keeps. Empty if all weights are equal (Otsu) or 0. Throws
// Error{kInvalidArgument} unless there is one finite weight of 0 or more per cell.
GridMask cut_weights(GridShape grid, std::span<const double> weights, const MaskRule& rule);

// Turns a mask head's logits for one query, at the head's own resolution, into pixels. A pixel
// belongs to the object if its probability is above one half; logits are blended before the
// sigmoid.
PixelMask mask_of_logits(GridShape grid, std::span<const double> logits, GridCover cover,
                         int64_t width, int64_t height);

}  // namespace fovea
