#include "fovea/explain/pictures/lost.h"

#include <algorithm>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/explain/pictures/patch_keys.h"

namespace fovea {
namespace {

std::vector<int64_t> count_positive(const Tensor& keys) {
  std::vector<int64_t> degrees(static_cast<size_t>(keys.size(0)), 0);
  const auto visit = [&](int64_t row, MatrixView<const float> products) {
    for (int64_t r = 0; r < products.rows; ++r) {
      int64_t positive = 0;
      for (int64_t c = r + 1; c < products.cols; ++c) {
        const int64_t similar = products(r, c) > 0 ? 1 : 0;
        positive += similar;
        degrees[static_cast<size_t>(row + c)] += similar;
      }
      degrees[static_cast<size_t>(row + r)] += positive;
    }
  };
  for_each_key_product(keys, visit);
  return degrees;
}

double dot_key(const float* key, std::span<const double> vector) {
  double sum = 0;
  for (size_t d = 0; d < vector.size(); ++d) sum += double{key[d]} * vector[d];
  return sum;
}

std::vector<double> as_doubles(const float* key, int64_t width) {
  return {key, key + width};
}

}  // namespace

LostObject lost(const Tensor& keys, GridShape grid, const LostOptions& options) {
  check_keys(keys, grid);
  if (options.expansion < 1) {
    fail(ErrorKind::kInvalidArgument, "a seed cannot be expanded with {} patches; give 1 or more",
         options.expansion);
  }
  LostObject object;
  object.degrees = count_positive(keys);
  std::vector<int64_t> order(object.degrees.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return object.degrees[static_cast<size_t>(a)] < object.degrees[static_cast<size_t>(b)];
  });
  object.seed = order.front();

  const MatrixView<const float> rows = keys.matrix<float>();
  const std::vector<double> seed_key = as_doubles(rows.row(object.seed), rows.cols);
  // sum_p G(p, j) = k_j . sum_p k_p: no products of pairs are needed again.
  std::vector<double> sum(seed_key.size(), 0.0);
  order.resize(std::min(order.size(), static_cast<size_t>(options.expansion)));
  for (const int64_t patch : order) {
    if (!(dot_key(rows.row(patch), seed_key) > 0)) continue;
    object.expanded.push_back(patch);
    for (size_t d = 0; d < sum.size(); ++d) sum[d] += double{rows.row(patch)[d]};
  }
  object.foreground = GridMask(grid);
  for (int64_t patch = 0; patch < grid.patches(); ++patch) {
    object.foreground.cells[static_cast<size_t>(patch)] = dot_key(rows.row(patch), sum) > 0 ? 1 : 0;
  }
  object.foreground.cells[static_cast<size_t>(object.seed)] = 1;
  object.mask = component_of(object.foreground, object.seed);
  object.box = box_of(object.mask);
  return object;
}

}  // namespace fovea
