#include "fovea/explain/pictures/token_cut.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/base/parallel.h"
#include "fovea/explain/pictures/lanczos.h"
#include "fovea/explain/pictures/patch_keys.h"

namespace fovea {
namespace {

// A symmetric matrix of zeros and ones, eight to a byte.
class BitMatrix {
 public:
  explicit BitMatrix(int64_t size)
      : size_(size), groups_((size + 7) / 8), bits_(static_cast<size_t>(size * groups_)) {}

  void set_pair(int64_t i, int64_t j) {
    byte(i, j / 8) |= static_cast<uint8_t>(1U << (j % 8));
    byte(j, i / 8) |= static_cast<uint8_t>(1U << (i % 8));
  }
  int64_t row_count(int64_t i) const {
    const auto row = row_bytes(i);
    return std::accumulate(row.begin(), row.end(), int64_t{0},
                           [](int64_t sum, uint8_t bits) { return sum + std::popcount(bits); });
  }

  // out = B x. The sums of all 256 choices out of each eight numbers are made first; a row is then
  // one lookup per byte.
  void multiply(std::span<const double> x, std::span<double> out) const {
    std::vector<std::array<double, 256>> sums(static_cast<size_t>(groups_));
    for (size_t group = 0; group < sums.size(); ++group) {
      sums[group][0] = 0;
      for (unsigned choice = 1; choice < 256; ++choice) {
        const size_t index = group * 8 + static_cast<size_t>(std::countr_zero(choice));
        sums[group][choice] =
            sums[group][choice & (choice - 1)] + (index < x.size() ? x[index] : 0);
      }
    }
    constexpr int64_t kRows = 128;
    parallel_for((size_ + kRows - 1) / kRows, [&](int64_t block) {
      for (int64_t i = block * kRows; i < std::min(size_, (block + 1) * kRows); ++i) {
        const auto row = row_bytes(i);
        double sum = 0;
        for (size_t group = 0; group < row.size(); ++group) sum += sums[group][row[group]];
        out[static_cast<size_t>(i)] = sum;
      }
    });
  }

 private:
  uint8_t& byte(int64_t i, int64_t group) {
    return bits_[static_cast<size_t>(i * groups_ + group)];
  }
  std::span<const uint8_t> row_bytes(int64_t i) const {
    return std::span(bits_).subspan(static_cast<size_t>(i * groups_), static_cast<size_t>(groups_));
  }

  int64_t size_;
  int64_t groups_;
  std::vector<uint8_t> bits_;
};

Tensor unit_rows(const Tensor& keys) {
  Tensor unit = keys.clone();
  const MatrixView<float> rows = unit.mutable_matrix<float>();
  for (int64_t i = 0; i < rows.rows; ++i) {
    double square = 0;
    for (int64_t d = 0; d < rows.cols; ++d) square += double{rows(i, d)} * double{rows(i, d)};
    const double factor = square > 0 ? 1 / std::sqrt(square) : 0;
    for (int64_t d = 0; d < rows.cols; ++d) {
      rows(i, d) = static_cast<float>(double{rows(i, d)} * factor);
    }
  }
  return unit;
}

BitMatrix similar_pairs(const Tensor& keys, double threshold) {
  BitMatrix pairs(keys.size(0));
  const auto visit = [&](int64_t row, MatrixView<const float> cosines) {
    for (int64_t r = 0; r < cosines.rows; ++r) {
      for (int64_t c = r; c < cosines.cols; ++c) {
        if (double{cosines(r, c)} > threshold) pairs.set_pair(row + r, row + c);
      }
    }
  };
  for_each_key_product(unit_rows(keys), visit);
  return pairs;
}

int64_t first_largest(std::span<const double> values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  const auto found = std::find_if(values.begin(), values.end(), [&](double value) {
    return std::abs(value) >= largest * (1 - 1e-9);
  });
  return found - values.begin();
}

// y of the second smallest lambda. With x = D^(1/2) y the problem is that of the symmetric matrix
// S = D^(-1/2) W D^(-1/2), whose eigenvalues are 1 - lambda and whose first vector is D^(1/2) 1.
void solve(const BitMatrix& pairs, int64_t size, double weak, TokenCutObject& object) {
  std::vector<double> root(static_cast<size_t>(size));  // D^(1/2)
  double total = 0;
  for (int64_t i = 0; i < size; ++i) {
    const auto strong = static_cast<double>(pairs.row_count(i));
    const double degree = strong + weak * (static_cast<double>(size) - strong);
    total += degree;
    root[static_cast<size_t>(i)] = std::sqrt(degree);
  }
  std::vector<double> first = root;
  for (double& value : first) value /= std::sqrt(total);
  std::vector<double> scaled(root.size());
  const auto multiply = [&](std::span<const double> x, std::span<double> out) {
    std::transform(x.begin(), x.end(), root.begin(), scaled.begin(), std::divides<>());
    const double sum = std::accumulate(scaled.begin(), scaled.end(), 0.0);
    pairs.multiply(scaled, out);
    for (size_t i = 0; i < out.size(); ++i) {
      out[i] = ((1 - weak) * out[i] + weak * sum) / root[i];
    }
  };
  const EigenPair pair = largest_eigenpair(multiply, first, {});
  object.eigenvalue = 1 - pair.value;
  object.residual = pair.residual;
  object.eigenvector.resize(root.size());
  std::transform(pair.vector.begin(), pair.vector.end(), root.begin(), object.eigenvector.begin(),
                 std::divides<>());
}

}  // namespace

TokenCutObject token_cut(const Tensor& keys, GridShape grid, const TokenCutOptions& options) {
  check_keys(keys, grid);
  if (!(options.weak > 0 && options.weak < 1)) {
    fail(ErrorKind::kInvalidArgument,
         "pairs that are not similar cannot weigh {}; give more than 0 and less than 1",
         options.weak);
  }
  TokenCutObject object;
  solve(similar_pairs(keys, options.threshold), grid.patches(), options.weak, object);
  std::vector<double>& y = object.eigenvector;
  object.seed = first_largest(y);
  if (y[static_cast<size_t>(object.seed)] < 0) {
    for (double& value : y) value = -value;
  }
  const double mean = std::accumulate(y.begin(), y.end(), 0.0) / static_cast<double>(y.size());
  object.foreground = GridMask(grid);
  std::transform(y.begin(), y.end(), object.foreground.cells.begin(),
                 [&](double value) { return static_cast<uint8_t>(value > mean ? 1 : 0); });
  object.mask = component_of(object.foreground, object.seed);
  object.box = box_of(object.mask);
  return object;
}

}  // namespace fovea
