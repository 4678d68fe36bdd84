#include "fovea/explain/artifacts.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/tensor/convert.h"

namespace fovea {
namespace {

constexpr double kLeastDeviation = 1e-6;  // of the median

// The mean of the two middle values where there is an even number.
double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<int64_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

}  // namespace

double Artifacts::share() const {
  return norms.empty() ? 0 : static_cast<double>(count()) / static_cast<double>(norms.size());
}

Artifacts find_artifacts(const Tensor& tokens, const PictureAxis& axis, const ArtifactRule& rule) {
  if (tokens.rank() != 2 || tokens.size(0) != axis.positions() || axis.grid.patches() < 1) {
    fail(ErrorKind::kInvalidArgument,
         "tokens {} do not fit {} special tokens and {} patches; give [positions, width]",
         to_string(tokens.shape()), axis.specials, axis.grid.patches());
  }
  const Tensor rows = convert(tokens, DType::kF32);
  Artifacts found;
  found.outliers = GridMask(axis.grid);
  for (int64_t patch = 0; patch < axis.grid.patches(); ++patch) {
    const float* row = rows.matrix<float>().row(axis.specials + patch);
    double square = 0;
    for (int64_t d = 0; d < rows.size(1); ++d) square += double{row[d]} * double{row[d]};
    if (!std::isfinite(square)) {
      fail(ErrorKind::kInvalidArgument, "the token of patch {} holds a number that is not finite",
           patch);
    }
    found.norms.push_back(std::sqrt(square));
  }
  found.median = median_of(found.norms);
  std::vector<double> distances = found.norms;
  for (double& distance : distances) distance = std::abs(distance - found.median);
  found.deviation = median_of(std::move(distances));
  const double deviation = std::max(found.deviation, kLeastDeviation * found.median);
  found.cut = rule.cut.value_or(found.median + rule.factor * deviation);
  for (size_t i = 0; i < found.norms.size(); ++i) {
    found.outliers.cells[i] = found.norms[i] > found.cut ? 1 : 0;
  }
  return found;
}

RenormalisedRow exclude_and_renormalise(std::span<const double> weights, const GridMask& excluded) {
  if (weights.size() != excluded.cells.size()) {
    fail(ErrorKind::kInvalidArgument, "{} weights were given for a grid of {} x {} patches",
         weights.size(), excluded.grid.rows, excluded.grid.cols);
  }
  RenormalisedRow row{{weights.begin(), weights.end()}, 0};
  const double before = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (size_t i = 0; i < weights.size(); ++i) {
    if (excluded.cells[i] != 0) row.weights[i] = 0;
  }
  const double after = std::accumulate(row.weights.begin(), row.weights.end(), 0.0);
  if (before == 0) return row;
  row.removed = 1 - after / before;
  if (after == 0) return row;
  for (double& weight : row.weights) weight *= before / after;
  return row;
}

}  // namespace fovea
