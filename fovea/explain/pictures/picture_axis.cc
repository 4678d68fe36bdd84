#include "fovea/explain/pictures/picture_axis.h"

#include <algorithm>

#include "fovea/base/error.h"

namespace fovea {

PictureAxis PictureAxis::of(const Axis& axis) {
  const auto positions = static_cast<int64_t>(axis.positions.size());
  const int64_t rows = axis.grid_rows;
  const int64_t cols = axis.grid_cols;
  if (rows < 1 || cols < 1 || cols > positions || rows > positions / cols) {
    fail(ErrorKind::kInvalidArgument,
         "axis '{}' of {} positions has a grid of {} x {}; methods for pictures need the grid of "
         "its patches",
         axis.name, positions, rows, cols);
  }
  return {{rows, cols}, positions - rows * cols};
}

std::span<const double> PictureAxis::patches_of(std::span<const double> over_positions) const {
  if (static_cast<int64_t>(over_positions.size()) != positions()) {
    fail(ErrorKind::kInvalidArgument, "{} numbers were given for {} special tokens and {} patches",
         over_positions.size(), specials, grid.patches());
  }
  return over_positions.subspan(static_cast<size_t>(specials));
}

void check_self_attention(const AttentionRecord& record, const PictureAxis& axis) {
  const AttentionShape shape = record.shape();
  if (shape.rows == axis.positions() && shape.cols == axis.positions()) return;
  fail(ErrorKind::kInvalidArgument,
       "{} has {} rows and {} columns but the picture has {} special tokens and {} patches; choose "
       "a self-attention over the picture",
       to_string(record.site), shape.rows, shape.cols, axis.specials, axis.grid.patches());
}

void for_each_patch_row(const AttentionMap& map, const PictureAxis& axis,
                        const std::function<void(int64_t, std::span<const float>)>& visit) {
  check_self_attention(map.record(), axis);
  constexpr int64_t kBlockCells = int64_t{1} << 20;  // 4 MiB of weights at a time
  const int64_t patches = axis.grid.patches();
  const int64_t step = std::clamp<int64_t>(kBlockCells / patches, 1, patches);
  Tensor buffer = Tensor::uninitialized({step, patches});
  for (int64_t first = 0; first < patches; first += step) {
    const int64_t count = std::min(step, patches - first);
    const auto block = buffer.mutable_matrix<float>().block(0, 0, count, patches);
    map.tile({axis.specials + first, axis.specials + first + count, axis.specials, map.cols()},
             block);
    for (int64_t r = 0; r < count; ++r) {
      visit(first + r, {block.row(r), static_cast<size_t>(patches)});
    }
  }
}

}  // namespace fovea
