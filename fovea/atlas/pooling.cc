// Blocks of cells drawn together: maximum, sum and how many cells count.
#include <algorithm>

#include "fovea/atlas/attention_map.h"
#include "fovea/base/parallel.h"
#include "fovea/kernels/attention_tile.h"
#include "fovea/kernels/fold.h"

namespace fovea {
namespace {

constexpr int64_t kBlockRows = 48;
constexpr int64_t kBlockCols = 256;

// One row of blocks while it is being filled.
struct BlockRow {
  explicit BlockRow(int64_t blocks)
      : max(static_cast<size_t>(blocks), 0.0F), sum(static_cast<size_t>(blocks), 0.0) {}

  // Adds rows of weights that begin at column `col` of the region: down the columns first, then
  // along the one row that is left.
  void add(MatrixView<const float> weights, int64_t col, int64_t bin) {
    float column_max[kBlockCols] = {};
    float column_sum[kBlockCols] = {};
    const auto width = static_cast<size_t>(weights.cols);
    fold_max_sum(weights, std::span(column_max, width), std::span(column_sum, width));
    for (int64_t c = 0; c < weights.cols; ++c) {
      const auto block = static_cast<size_t>((col + c) / bin);
      max[block] = std::max(max[block], column_max[c]);
      sum[block] += double{column_sum[c]};
    }
  }

  std::vector<float> max;
  std::vector<double> sum;
};

int64_t blocks_of(int64_t cells, int64_t bin) {
  return (cells + bin - 1) / bin;
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

PooledTile AttentionMap::pooled(Region region, int64_t bin, const CancelToken& cancel) const {
  check(region);
  if (bin < 1)
    fail(ErrorKind::kInvalidArgument, "blocks of {} cells cannot be; use 1 or more", bin);
  const Shape shape{blocks_of(region.rows(), bin), blocks_of(region.cols(), bin)};
  PooledTile result{Tensor(shape), Tensor(shape), allowed(region, bin)};
  if (shape.elements() == 0) return result;
  const HeadTiles tiles(inputs_, head_, {region.col_begin, region.col_end});
  const MatrixView<float> max_out = result.max.mutable_matrix<float>();
  const MatrixView<float> sum_out = result.sum.mutable_matrix<float>();
  // A work item is one row of blocks, or several where blocks are small.
  const int64_t item_blocks = std::max<int64_t>(1, kBlockRows / bin);
  parallel_for(blocks_of(shape[0], item_blocks), [&](int64_t item) {
    Tensor buffer = Tensor::uninitialized({kBlockRows, kBlockCols});
    std::vector<BlockRow> blocks(static_cast<size_t>(item_blocks), BlockRow(shape[1]));
    const int64_t item_begin = item * item_blocks * bin;  // rows within the region
    const int64_t item_end = std::min(item_begin + item_blocks * bin, region.rows());
    for (int64_t first = item_begin; first < item_end; first += kBlockRows) {
      const int64_t count = std::min(item_end - first, kBlockRows);
      const int64_t row = region.row_begin + first;
      const KeyRange seen = visible(row, row + count);
      for (int64_t col = 0; col < region.cols(); col += kBlockCols) {
        const int64_t width = std::min(region.cols() - col, kBlockCols);
        const KeyRange part{region.col_begin + col, region.col_begin + col + width};
        if (seen.begin >= part.end || seen.end <= part.begin) continue;
        cancel.check();
        const auto weights = buffer.mutable_matrix<float>().block(0, 0, count, width);
        tiles.weights(row, part, lse().subspan(static_cast<size_t>(row)), weights);
        for (int64_t r = 0; r < count;) {  // rows of one block at a time
          const int64_t block = (first + r - item_begin) / bin;
          const int64_t end = std::min(count, item_begin + (block + 1) * bin - first);
          blocks[static_cast<size_t>(block)].add(weights.block(r, 0, end - r, width), col, bin);
          r = end;
        }
      }
    }
    for (int64_t b = 0; b < std::min(item_blocks, shape[0] - item * item_blocks); ++b) {
      const BlockRow& block = blocks[static_cast<size_t>(b)];
      std::copy(block.max.begin(), block.max.end(), max_out.row(item * item_blocks + b));
      std::transform(block.sum.begin(), block.sum.end(), sum_out.row(item * item_blocks + b),
                     [](double sum) { return static_cast<float>(sum); });
    }
  });
  return result;
}

Tensor AttentionMap::allowed(Region region, int64_t bin) const {
  check(region);
  Tensor counts(Shape{blocks_of(region.rows(), bin), blocks_of(region.cols(), bin)}, DType::kI64);
  const MatrixView<int64_t> out = counts.mutable_matrix<int64_t>();
  const Mask& mask = record_->rule.mask;
  // valid_before[j]: valid keys before key j, so that a range's count is a difference.
  std::vector<int64_t> valid_before(static_cast<size_t>(cols()) + 1, 0);
  for (size_t j = 0; j < static_cast<size_t>(cols()); ++j) {
    const bool valid = mask.key_valid.empty() || mask.key_valid[j] != 0;
    valid_before[j + 1] = valid_before[j] + (valid ? 1 : 0);
  }
  parallel_for(out.rows, [&](int64_t block_row) {
    const int64_t row_end = std::min(region.row_begin + (block_row + 1) * bin, region.row_end);
    for (int64_t i = region.row_begin + block_row * bin; i < row_end; ++i) {
      const KeyRange seen = mask.key_range(i, cols());
      for (int64_t block_col = 0; block_col < out.cols; ++block_col) {
        const int64_t first = region.col_begin + block_col * bin;
        const int64_t begin = std::max(first, seen.begin);
        const int64_t end = std::min({first + bin, region.col_end, seen.end});
        if (begin >= end) continue;
        if (mask.key_group.empty()) {
          out(block_row, block_col) +=
              valid_before[static_cast<size_t>(end)] - valid_before[static_cast<size_t>(begin)];
        } else {
          for (int64_t j = begin; j < end; ++j)
            out(block_row, block_col) += mask.allows(i, j) ? 1 : 0;
        }
      }
    }
  });
  return counts;
}

}  // namespace fovea
