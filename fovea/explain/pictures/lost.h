// LOST (Simeoni et al. 2021, arXiv:2109.14279): finds an object from the keys of the last layer,
// without any training. Patches of an object are similar to few others, patches of the background
// to many.
//
//   G = K K^T                              not normalised
//   degree(i) = |{j != i : G(i, j) > 0}|   the seed is the patch of the lowest degree
//   S = of the `expansion` patches of lowest degree those with G(seed, .) > 0
//   mask = {j : sum over p in S of G(p, j) > 0}, the connected part that holds the seed
#pragma once

#include <vector>

#include "fovea/explain/pictures/grid_mask.h"

namespace fovea {

struct LostOptions {
  int64_t expansion = 100;  // how many patches may expand the seed
};

struct LostObject {
  int64_t seed = 0;
  std::vector<int64_t> degrees;   // one per patch
  std::vector<int64_t> expanded;  // S, by degree
  GridMask foreground;            // all patches with a positive sum
  GridMask mask;                  // its part around the seed; the seed alone if its key is 0
  GridBox box;                    // the mask's box
};

// Finds the object. `keys` is patch_keys() of the last layer. Of equal degrees the earlier patch
// comes first. Cost patches^2 * width / 2, memory patches * width. Throws Error{kInvalidArgument}
// if the keys do not fit the grid or `expansion` is below 1.
LostObject lost(const Tensor& keys, GridShape grid, const LostOptions& options = {});

}  // namespace fovea
