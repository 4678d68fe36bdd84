// Mean attention distance (Dosovitskiy et al. 2021, arXiv:2010.11929, figure 7): how far a head
// looks on average, in pixels.
//
//   D = mean over patches i of sum over patches j of A(i, j) * patch_size * |place of i - place of
//   j|
#pragma once

#include <memory>
#include <span>

#include "fovea/attention/matrix.h"
#include "fovea/explain/pictures/picture_axis.h"

namespace fovea {

// What a patch gives to patches, and how far that goes: sum of A and of A * distance, in patches.
struct PatchMoment {
  double weight = 0;
  double distance = 0;
};

// Distances between all patches of a grid, made once.
class PatchDistances {
 public:
  explicit PatchDistances(GridShape grid);
  // Of `patch`, whose weights on all patches are `weights`.
  PatchMoment moment(int64_t patch, std::span<const float> weights) const;

 private:
  GridShape grid_;
  // (|dr|, dc + cols - 1): a row of keys reads a run of neighbours from it.
  Matrix distance_;
};

enum class DistanceForm {
  kRenormalised,  // each row is divided by what it gives to patches
  // As a widely copied Keras program has it: special tokens are cut off and nothing is divided, so
  // what they receive counts as distance 0 and every number comes out too low.
  kKeras,
};

// Rows and columns of special tokens are left out; so are, renormalised, rows that give patches
// nothing. patch_size 1 gives patches. Cost patches^2 * head_dim, memory of a block of rows.
double attention_distance(const AttentionMap& map, const PictureAxis& axis, double patch_size,
                          DistanceForm form = DistanceForm::kRenormalised);

// [layers, heads]. Throws Error{kInvalidArgument} unless all layers have as many heads.
Matrix attention_distances(std::span<const std::shared_ptr<const AttentionRecord>> layers,
                           const PictureAxis& axis, double patch_size,
                           DistanceForm form = DistanceForm::kRenormalised);

}  // namespace fovea
