// Artifact tokens (Darcet et al. 2024, arXiv:2309.16588): large, long-trained models use a few
// patches of little content as memory. Their output vectors are far longer than the others', and
// attention gathers on them: a warning about a map, not a method.
//
// A patch is an outlier if its norm is above median + factor * MAD, the median absolute deviation.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "fovea/explain/pictures/grid_mask.h"

namespace fovea {

struct ArtifactRule {
  double factor = 6;
  std::optional<double> cut;  // a norm that is known for the model instead (150 for DINOv2 ViT-g)
};

struct Artifacts {
  std::vector<double> norms;  // of every patch
  double median = 0;
  double deviation = 0;  // MAD
  double cut = 0;        // norms above are outliers
  GridMask outliers;

  int64_t count() const { return outliers.count(); }
  double share() const;  // of all patches
};

// `tokens` is F32, F16 or BF16 [positions, width], the model's output before its final norm (after
// a norm all are about as long). A MAD below a millionth of the median counts as that much, so that
// rounding makes no outliers. Throws Error{kInvalidArgument} if it does not fit the axis or holds
// NaN.
Artifacts find_artifacts(const Tensor& tokens, const PictureAxis& axis,
                         const ArtifactRule& rule = {});
// The same of the lengths of these vectors, one for each position.
Artifacts find_artifacts(std::span<const double> norms, const PictureAxis& axis,
                         const ArtifactRule& rule = {});

// Length of every row of [positions, width], F32, F16 or BF16.
std::vector<double> row_norms(const Tensor& states);
// The mean of the two middle values where there is an even number; 0 of none.
double median_of(std::vector<double> values);

// Weights over patches without those of `excluded`.
struct RenormalisedRow {
  std::vector<double> weights;  // 0 where excluded; the rest has the sum that all had before
  double removed = 0;           // share of that sum that was excluded; 1: nothing was left, all 0
};
// Throws Error{kInvalidArgument} unless there is one weight per patch.
RenormalisedRow exclude_and_renormalise(std::span<const double> weights, const GridMask& excluded);

}  // namespace fovea
