// Artifact tokens (Darcet et al. 2024, arXiv:2309.16588): large models that were trained for long
// use a few patches of little content as memory. Their output vectors are far longer than the
// others', and attention gathers on them. This is a warning about a map, not a method.
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
  std::optional<double> cut;  // a known limit to use instead (150 for DINOv2 ViT-g)
};

struct Artifacts {
  std::vector<double> norms;  // one per patch
  double median = 0;
  double deviation = 0;  // MAD
  double cut = 0;        // norms above are outliers
  GridMask outliers;

  int64_t count() const { return outliers.count(); }
  double share() const;  // the outliers' share of all patches
};

// Finds outliers. `tokens` is F32, F16 or BF16 [positions, width]: the model's output before its
// final norm, which makes all vectors about equally long. A MAD below a millionth of the median
// counts as that much, so that rounding makes no outliers. Throws Error{kInvalidArgument} if it
// does not fit the axis or holds NaN.
Artifacts find_artifacts(const Tensor& tokens, const PictureAxis& axis,
                         const ArtifactRule& rule = {});
// The same from the lengths of these vectors, one for each position.
Artifacts find_artifacts(std::span<const double> norms, const PictureAxis& axis,
                         const ArtifactRule& rule = {});

// The length of every row of [positions, width], F32, F16 or BF16.
std::vector<double> row_norms(const Tensor& states);
// The median: for an even count the mean of the two middle values, for none 0.
double median_of(std::vector<double> values);

// Weights over patches without excluded ones.
struct RenormalisedRow {
  std::vector<double> weights;  // 0 where excluded; the rest has the old sum
  double removed = 0;           // share of the sum that was excluded; 1: all weights are 0
};
// Throws Error{kInvalidArgument} unless there is one weight per patch.
RenormalisedRow exclude_and_renormalise(std::span<const double> weights, const GridMask& excluded);

}  // namespace fovea
