#include "fovea/explain/pictures/attention_distance.h"

#include <cmath>

#include "fovea/base/error.h"

namespace fovea {

PatchDistances::PatchDistances(GridShape grid)
    : grid_(grid), distance_(grid.rows, 2 * grid.cols - 1) {
  for (int64_t down = 0; down < grid.rows; ++down) {
    for (int64_t c = 0; c < distance_.cols(); ++c) {
      distance_(down, c) =
          std::hypot(static_cast<double>(down), static_cast<double>(c - grid.cols + 1));
    }
  }
}

PatchMoment PatchDistances::moment(int64_t patch, std::span<const float> weights) const {
  PatchMoment moment;
  const float* weight = weights.data();
  for (int64_t r = 0; r < grid_.rows; ++r) {
    const double* from = distance_.row(std::abs(r - grid_.row_of(patch))).data() +
                         (grid_.cols - 1 - grid_.col_of(patch));
    for (int64_t c = 0; c < grid_.cols; ++c, ++weight) {
      moment.weight += double{*weight};
      moment.distance += double{*weight} * from[c];
    }
  }
  return moment;
}

double attention_distance(const AttentionMap& map, const PictureAxis& axis, double patch_size,
                          DistanceForm form) {
  const PatchDistances distances(axis.grid);
  double total = 0;
  int64_t rows = 0;
  const auto add_row = [&](int64_t patch, std::span<const float> weights) {
    PatchMoment moment = distances.moment(patch, weights);
    if (form == DistanceForm::kRenormalised) {
      if (moment.weight <= 0) return;
      moment.distance /= moment.weight;
    }
    total += moment.distance;
    ++rows;
  };
  for_each_patch_row(map, axis, add_row);
  return rows == 0 ? 0 : patch_size * total / static_cast<double>(rows);
}

Matrix attention_distances(std::span<const std::shared_ptr<const AttentionRecord>> layers,
                           const PictureAxis& axis, double patch_size, DistanceForm form) {
  if (layers.empty()) return {};
  const int64_t heads = layers.front()->shape().heads;
  Matrix distances(static_cast<int64_t>(layers.size()), heads);
  for (size_t layer = 0; layer < layers.size(); ++layer) {
    if (layers[layer]->shape().heads != heads) {
      fail(ErrorKind::kInvalidArgument, "{} has {} heads but {} has {}",
           to_string(layers[layer]->site), layers[layer]->shape().heads,
           to_string(layers.front()->site), heads);
    }
    for (int64_t head = 0; head < heads; ++head) {
      distances(static_cast<int64_t>(layer), head) =
          attention_distance(AttentionMap(layers[layer], head), axis, patch_size, form);
    }
  }
  return distances;
}

}  // namespace fovea
