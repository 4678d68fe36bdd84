// TokenCut (Wang et al. 2022, arXiv:2202.11539): finds an object from the keys of the last layer.
// It is the normalised cut of a graph of patches.
//
//   W(i, j) = 1 where cos(k_i, k_j) > threshold, else 1e-5        D = diag(row sums of W)
//   (D - W) y = lambda D y        y of the second smallest lambda
//   foreground = {i : y_i > mean of y}, with the sign in which the seed, the patch of the largest
//   |y|, is inside; the object is its connected part around the seed
#pragma once

#include <vector>

#include "fovea/explain/pictures/grid_mask.h"

namespace fovea {

struct TokenCutOptions {
  double threshold = 0.2;  // for the cosine
  double weak = 1e-5;      // weight of pairs below the threshold
};

struct TokenCutObject {
  std::vector<double> eigenvector;  // y with y D y = 1, positive at the seed
  double eigenvalue = 0;            // lambda
  double residual = 0;              // the solver's; above 1e-6, do not trust the vector
  int64_t seed = 0;
  GridMask foreground;
  GridMask mask;  // its part around the seed
  GridBox box;    // the mask's box
};

// Finds the object. `keys` is patch_keys() of the last layer; a zero key is similar to no other.
// The seed is the patch of the largest |y|; of patches that agree to 9 digits, the first. The graph
// costs patches^2 * width / 2 and is kept as one bit per pair (1.6 MB for 3,600 patches). The
// eigenvector costs some 30 to 400 times patches^2 / 8, with the basis of lanczos.h in memory.
// Throws Error{kInvalidArgument} if the keys do not fit the grid or `weak` is not within (0, 1).
TokenCutObject token_cut(const Tensor& keys, GridShape grid, const TokenCutOptions& options = {});

}  // namespace fovea
