#include "fovea/explain/pictures/artifacts.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/tensor/convert.h"

namespace fovea {
namespace {

constexpr double kLeastDeviation = 1e-6;  // of the median

}  // namespace

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<int64_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

std::vector<double> row_norms(const Tensor& states) {
  const Tensor rows = convert(states, DType::kF32);
  std::vector<double> norms;
  for (int64_t i = 0; i < rows.size(0); ++i) {
    const std::span row(rows.matrix<float>().row(i), static_cast<size_t>(rows.size(1)));
    double square = 0;
    for (const float value : row) square += double{value} * double{value};
    norms.push_back(std::sqrt(square));
  }
  return norms;
}

double Artifacts::share() const {
  return norms.empty() ? 0 : static_cast<double>(count()) / static_cast<double>(norms.size());
}

Artifacts find_artifacts(const Tensor& tokens, const PictureAxis& axis, const ArtifactRule& rule) {
  if (tokens.rank() != 2 || tokens.size(0) != axis.positions() || axis.grid.patches() < 1) {
    fail(ErrorKind::kInvalidArgument,
         "tokens {} do not fit {} special tokens and {} patches; give [positions, width]",
         to_string(tokens.shape()), axis.specials, axis.grid.patches());
  }
  return find_artifacts(row_norms(tokens), axis, rule);
}

Artifacts find_artifacts(std::span<const double> norms, const PictureAxis& axis,
                         const ArtifactRule& rule) {
  const std::span<const double> patches = axis.patches_of(norms);
  Artifacts found{.norms = {patches.begin(), patches.end()}, .outliers = GridMask(axis.grid)};
  for (size_t patch = 0; patch < found.norms.size(); ++patch) {
    if (std::isfinite(found.norms[patch])) continue;
    fail(ErrorKind::kBadFile,
         "the token of patch {} holds a number that is not finite; check the weights", patch);
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
