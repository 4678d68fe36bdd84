#include "fovea/atlas/pyramid.h"

#include <algorithm>
#include <atomic>

namespace fovea {
namespace {

uint64_t next_id() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

int64_t cells_at(int64_t weights, int level) {
  const int64_t side = int64_t{1} << level;
  return (weights + side - 1) / side;
}

// out(r / 2, c / 2) (+ the child's place) takes the larger or the sum of four cells.
void pool_child(const CellSource& source, const PyramidTile& child, int64_t row, int64_t col,
                MatrixView<float> max, MatrixView<float> sum) {
  const MatrixView<const float> child_max = child.max.matrix<float>();
  const MatrixView<const float> child_sum = child.sum.matrix<float>();
  for (int64_t r = 0; r < child_max.rows; ++r) {
    for (int64_t c = 0; c < child_max.cols; ++c) {
      float& largest = max(row + r / 2, col + c / 2);
      largest = source.stronger(child_max(r, c), largest);
      sum(row + r / 2, col + c / 2) += child_sum(r, c);
    }
  }
}

}  // namespace

Pyramid::Pyramid(const AttentionMap& map, std::shared_ptr<TileCache> cache)
    : Pyramid(cell_source(map), std::move(cache)) {}

Pyramid::Pyramid(std::shared_ptr<const CellSource> source, std::shared_ptr<TileCache> cache)
    : source_(std::move(source)), cache_(std::move(cache)), id_(next_id()), levels_(1) {
  const int64_t side = std::max(source_->rows(), source_->cols());
  while (cells_at(side, levels_ - 1) > kTileSide) ++levels_;
}

int64_t Pyramid::tile_rows(int level) const {
  return (cells_at(source_->rows(), level) + kTileSide - 1) / kTileSide;
}

int64_t Pyramid::tile_cols(int level) const {
  return (cells_at(source_->cols(), level) + kTileSide - 1) / kTileSide;
}

Region Pyramid::region(int level, int64_t y, int64_t x) const {
  if (level < 0 || level >= levels_) {
    fail(ErrorKind::kInvalidArgument, "there is no level {}; the pyramid has levels 0 to {}", level,
         levels_ - 1);
  }
  if (y < 0 || x < 0 || y >= tile_rows(level) || x >= tile_cols(level)) {
    fail(ErrorKind::kInvalidArgument, "there is no tile {},{}; level {} has {} x {} tiles", y, x,
         level, tile_rows(level), tile_cols(level));
  }
  const int64_t side = kTileSide << level;
  return {y * side, std::min((y + 1) * side, source_->rows()), x * side,
          std::min((x + 1) * side, source_->cols())};
}

std::shared_ptr<const PyramidTile> Pyramid::tile(int level, int64_t y, int64_t x) const {
  static_cast<void>(region(level, y, x));  // throws on a tile that is not there
  return cache_->get({id_, level, y, x}, [&] { return compute(level, y, x); });
}

std::shared_ptr<const PyramidTile> Pyramid::find_tile(int level, int64_t y, int64_t x) const {
  static_cast<void>(region(level, y, x));
  return cache_->find_tile({id_, level, y, x});
}

PyramidTile Pyramid::first_look(int level, int64_t y, int64_t x, int64_t rows) const {
  return source_->sampled(region(level, y, x), int64_t{1} << level, rows);
}

Tensor Pyramid::mean(int level, int64_t y, int64_t x) const {
  const auto pooled = tile(level, y, x);
  return PooledTile{pooled->max, pooled->sum,
                    source_->allowed(region(level, y, x), int64_t{1} << level)}
      .mean();
}

PyramidTile Pyramid::compute(int level, int64_t y, int64_t x) const {
  const Region covered = region(level, y, x);
  if (level <= kDirectLevel) return source_->pooled(covered, int64_t{1} << level);
  const Shape shape{cells_at(covered.rows(), level), cells_at(covered.cols(), level)};
  PyramidTile result{Tensor(shape), Tensor(shape)};
  std::ranges::fill(result.max.mutable_values<float>(), source_->lowest());
  const MatrixView<float> max = result.max.mutable_matrix<float>();
  const MatrixView<float> sum = result.sum.mutable_matrix<float>();
  for (int64_t child_y = 2 * y; child_y < std::min(2 * y + 2, tile_rows(level - 1)); ++child_y) {
    for (int64_t child_x = 2 * x; child_x < std::min(2 * x + 2, tile_cols(level - 1)); ++child_x) {
      const auto child = tile(level - 1, child_y, child_x);
      pool_child(*source_, *child, (child_y - 2 * y) * kTileSide / 2,
                 (child_x - 2 * x) * kTileSide / 2, max, sum);
    }
  }
  return result;
}

}  // namespace fovea
