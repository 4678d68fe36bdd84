// Blocks of cells drawn together: maximum, sum and how many cells count.
#include <algorithm>

#include "fovea/atlas/attention_map.h"
#include "fovea/base/cancel.h"
#include "fovea/base/parallel.h"

namespace fovea {
namespace {

// Rows that a thread takes at a time: whole blocks, and a multiple of the kernels' 12 rows where
// blocks allow it; fewer where blocks are small, since each keeps 2 kB while it is filled.
int64_t pool_rows_per_item(int64_t bin) {
  if (bin > 192) return 192;
  const int64_t rows = bin <= 16 ? 48 : 192;
  return rows / bin * bin;
}

}  // namespace

Tensor PooledTile::mean() const {
  Tensor mean = Tensor::uninitialized(sum.shape());
  const auto sums = sum.values<float>();
  const auto counts = count.values<int64_t>();
  std::transform(sums.begin(), sums.end(), counts.begin(), mean.mutable_values<float>().begin(),
                 [](float total, int64_t cells) {
                   return cells == 0 ? 0.0F : total / static_cast<float>(cells);
                 });
  return mean;
}

PooledTile AttentionMap::pooled(Region region, int64_t bin) const {
  check(region);
  if (bin < 1)
    fail(ErrorKind::kInvalidArgument, "blocks of {} cells cannot be; use 1 or more", bin);
  const Shape shape{blocks_of(region.rows(), bin), blocks_of(region.cols(), bin)};
  PooledTile result{Tensor(shape), Tensor(shape), allowed(region, bin)};
  if (shape.elements() == 0) return result;
  const HeadBlocks pools(source_, {region.col_begin, region.col_end});
  // A work item is one row of blocks, or several where blocks are small.
  const int64_t piece_rows = pool_rows_per_item(bin);
  const int64_t item_blocks = std::max<int64_t>(1, piece_rows / bin);
  parallel_for(blocks_of(shape[0], item_blocks), [&](int64_t item) {
    const int64_t first_block = item * item_blocks;
    const int64_t blocks = std::min(item_blocks, shape[0] - first_block);
    const MatrixView<float> max =
        result.max.mutable_matrix<float>().block(first_block, 0, blocks, shape[1]);
    std::vector<double> sums(static_cast<size_t>(blocks * shape[1]), 0.0);
    const int64_t end = std::min(region.row_begin + (first_block + blocks) * bin, region.row_end);
    for (int64_t row = region.row_begin + first_block * bin; row < end; row += piece_rows) {
      check_cancelled();
      const int64_t count = std::min(end - row, piece_rows);
      pools.add_blocks(row, count, bin, max, MatrixView<double>(sums.data(), blocks, shape[1]));
    }
    std::transform(sums.begin(), sums.end(), result.sum.mutable_matrix<float>().row(first_block),
                   [](double sum) { return static_cast<float>(sum); });
  });
  return result;
}

Tensor AttentionMap::allowed(Region region, int64_t bin) const {
  check(region);
  return allowed_cells(*record_, region, bin);
}

Tensor allowed_cells(const AttentionRecord& record, Region region, int64_t bin) {
  const int64_t all_cols = record.shape().cols;
  Tensor counts(Shape{blocks_of(region.rows(), bin), blocks_of(region.cols(), bin)}, DType::kI64);
  const MatrixView<int64_t> out = counts.mutable_matrix<int64_t>();
  const Mask& mask = record.rule.mask;
  // valid_before[j]: valid keys before key j, so that a range's count is a difference.
  std::vector<int64_t> valid_before(static_cast<size_t>(all_cols) + 1, 0);
  for (size_t j = 0; j < static_cast<size_t>(all_cols); ++j) {
    const bool valid = mask.key_valid.empty() || mask.key_valid[j] != 0;
    valid_before[j + 1] = valid_before[j] + (valid ? 1 : 0);
  }
  parallel_for(out.rows, [&](int64_t block_row) {
    const int64_t row_begin = region.row_begin + block_row * bin;
    const int64_t row_end = std::min(row_begin + bin, region.row_end);
    // Ranges only move forward with the row: what first and last row see, all do.
    const KeyRange first = mask.key_range(row_begin, all_cols);
    const KeyRange last = mask.key_range(row_end - 1, all_cols);
    for (int64_t block_col = 0; block_col < out.cols; ++block_col) {
      const int64_t col_begin = region.col_begin + block_col * bin;
      const int64_t col_end = std::min(col_begin + bin, region.col_end);
      if (first.begin >= col_end || last.end <= col_begin) continue;
      const auto count_of = [&](int64_t begin, int64_t end) {
        return begin >= end ? 0
                            : valid_before[static_cast<size_t>(end)] -
                                  valid_before[static_cast<size_t>(begin)];
      };
      int64_t& count = out(block_row, block_col);
      if (mask.key_group.empty() && last.begin <= col_begin && col_end <= first.end) {
        count = (row_end - row_begin) * count_of(col_begin, col_end);
        continue;
      }
      for (int64_t i = row_begin; i < row_end; ++i) {
        const KeyRange seen = mask.key_range(i, all_cols);
        const int64_t begin = std::max(col_begin, seen.begin);
        const int64_t end = std::min(col_end, seen.end);
        if (mask.key_group.empty()) {
          count += count_of(begin, end);
        } else {
          for (int64_t j = begin; j < end; ++j) count += mask.allows(i, j) ? 1 : 0;
        }
      }
    }
  });
  return counts;
}

}  // namespace fovea
