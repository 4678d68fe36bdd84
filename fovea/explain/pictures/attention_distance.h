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

// How much weight a patch gives to patches, and how far it goes: the sum of A, and the sum of A *
// distance in patches.
struct PatchMoment {
  double weight = 0;
  double distance = 0;
};

// Distances between all patches of a grid, made once.
class PatchDistances {
 public:
  explicit PatchDistances(GridShape grid);
  // The moment of `patch`, whose weights on all patches are `weights`.
  PatchMoment moment(int64_t patch, std::span<const float> weights) const;

 private:
  GridShape grid_;
  // Indexed by (|dr|, dc + cols - 1), so that a row of keys reads a run of neighbours.
  Matrix distance_;
};

enum class DistanceForm {
  kRenormalised,  // each row is divided by what it gives to patches
  // As in a widely copied Keras program: special tokens are cut off but rows are not divided. Their
  // weight then counts as distance 0, and every number is too low.
  kKeras,
};

// Leaves out rows and columns of special tokens, and, if renormalised, rows that give patches
// nothing. With patch_size 1 the distance is in patches. Cost patches^2 * head_dim, memory of a
// block of rows.
double attention_distance(const AttentionMap& map, const PictureAxis& axis, double patch_size,
                          DistanceForm form = DistanceForm::kRenormalised);

// [layers, heads]. Throws Error{kInvalidArgument} unless all layers have as many heads.
Matrix attention_distances(std::span<const std::shared_ptr<const AttentionRecord>> layers,
                           const PictureAxis& axis, double patch_size,
                           DistanceForm form = DistanceForm::kRenormalised);

}  // namespace fovea
