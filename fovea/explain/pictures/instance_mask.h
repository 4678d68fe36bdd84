// The area of one object out of attention: weights over the cells of a picture, cut at a threshold
// on the grid, then brought up to pixels. The weights come from a row of encoder attention (what
// the object's centre attends to) or from cross-attention (what its query attends to); a mask head
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
  double share = 0;  // of kMass and kMaximum; 0: default_share()
};

double default_share(MaskCut cut);      // 0.6 of the mass, 0.25 of the maximum; 0 for Otsu
std::string_view name_of(MaskCut cut);  // "otsu", "mass", "maximum"
// "otsu", "mass", "mass:0.8", "maximum:0.5". Throws Error{kInvalidArgument} that lists the names,
// or on a share outside of (0, 1].
MaskRule parse_mask_rule(std::string_view text);
std::string to_string(const MaskRule& rule);  // what parse_mask_rule() reads

// Empty where all weights are equal (Otsu) or 0. Throws Error{kInvalidArgument} unless there is one
// finite weight of 0 or more per cell.
GridMask cut_weights(GridShape grid, std::span<const double> weights, const MaskRule& rule);

// A mask head's logits of one query at its own resolution: pixels that belong to the object with a
// probability above one half, blended before the sigmoid.
PixelMask mask_of_logits(GridShape grid, std::span<const double> logits, GridCover cover,
                         int64_t width, int64_t height);

}  // namespace fovea
