// A first look at a map from a few of its rows.
#include <algorithm>
#include <cmath>

#include "fovea/atlas/attention_map.h"
#include "fovea/base/cancel.h"
#include "fovea/base/parallel.h"

namespace fovea {
namespace {

// Keys that a thread takes at a time: they stay in the second-level cache while the rows go by.
constexpr int64_t kItemKeys = 1024;

// A number that looks random but is the same in every run (the finaliser of splitmix64).
uint64_t scrambled(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// The rows that are read in one row of blocks. The row of blocks is cut into `count` runs of nearly
// equal length, and each gives one row.
struct RowSample {
  RowSample(int64_t begin, int64_t end, int64_t wanted, uint64_t seed) : rows_in_all(end - begin) {
    const int64_t count = std::min(wanted, rows_in_all);
    for (int64_t run = 0; run < count; ++run) {
      const int64_t first = begin + rows_in_all * run / count;
      const int64_t length = begin + rows_in_all * (run + 1) / count - first;
      const uint64_t draw = scrambled(scrambled(seed) + static_cast<uint64_t>(first));
      rows.push_back(first + static_cast<int64_t>(draw % static_cast<uint64_t>(length)));
      lengths.push_back(static_cast<double>(length));
    }
  }

  // Turns the sums of the sampled rows, [rows, blocks], into estimates for their block.
  void estimate(MatrixView<const double> sums, int64_t block, float& sum, float& error) const {
    double total = 0;
    double squares = 0;
    for (int64_t r = 0; r < sums.rows; ++r) {
      const double part = sums(r, block) * lengths[static_cast<size_t>(r)];
      total += part;
      squares += part * part;
    }
    sum = static_cast<float>(total);
    const auto count = static_cast<double>(sums.rows);
    // The error is computed as if the rows were drawn from the whole block. That is too large if
    // neighbours are alike.
    const double variance =
        count < 2 ? 0 : std::max(0.0, squares - total * total / count) * count / (count - 1);
    const double unread = 1 - count / static_cast<double>(rows_in_all);
    error = static_cast<float>(std::sqrt(variance * unread));
  }

  int64_t rows_in_all;
  std::vector<int64_t> rows;
  std::vector<double> lengths;  // of the run that each row stands for
};

}  // namespace

SampledTile AttentionMap::sampled(Region region, int64_t bin, int64_t rows_per_block,
                                  uint64_t seed) const {
  check(region);
  if (bin < 1 || rows_per_block < 2) {
    fail(ErrorKind::kInvalidArgument,
         "{} rows of blocks of {} cells cannot be; use 2 rows or more of 1 cell or more",
         rows_per_block, bin);
  }
  const Shape shape{blocks_of(region.rows(), bin), blocks_of(region.cols(), bin)};
  SampledTile result{Tensor(shape), Tensor(shape), Tensor(shape)};
  if (shape.elements() == 0) return result;
  std::vector<RowSample> samples;
  for (int64_t row = region.row_begin; row < region.row_end; row += bin) {
    samples.emplace_back(row, std::min(row + bin, region.row_end), rows_per_block, seed);
  }
  const MatrixView<float> max = result.max.mutable_matrix<float>();
  const MatrixView<float> sum = result.sum.mutable_matrix<float>();
  const MatrixView<float> error = result.error.mutable_matrix<float>();
  // A thread owns whole columns of blocks and walks down the rows, so nothing is shared.
  const int64_t item_blocks = std::max<int64_t>(1, kItemKeys / bin);
  parallel_for(blocks_of(shape[1], item_blocks), [&](int64_t item) {
    const int64_t first = item * item_blocks;
    const int64_t blocks = std::min(item_blocks, shape[1] - first);
    const int64_t col = region.col_begin + first * bin;
    const HeadBlocks pools(source_, {col, std::min(col + blocks * bin, region.col_end)});
    Tensor row_max = Tensor::uninitialized({rows_per_block, blocks});
    std::vector<double> row_sums(static_cast<size_t>(rows_per_block * blocks));
    for (int64_t r = 0; r < shape[0]; ++r) {
      check_cancelled();
      const RowSample& sample = samples[static_cast<size_t>(r)];
      const auto count = static_cast<int64_t>(sample.rows.size());
      std::ranges::fill(row_max.mutable_values<float>(), 0.0F);
      std::ranges::fill(row_sums, 0.0);
      const MatrixView<float> maxima = row_max.mutable_matrix<float>().block(0, 0, count, blocks);
      const MatrixView<double> sums(row_sums.data(), count, blocks);
      pools.add_rows(sample.rows, bin, maxima, sums);
      for (int64_t block = 0; block < blocks; ++block) {
        for (int64_t s = 0; s < count; ++s) {
          max(r, first + block) = std::max(max(r, first + block), maxima(s, block));
        }
        sample.estimate(sums, block, sum(r, first + block), error(r, first + block));
      }
    }
  });
  return result;
}

}  // namespace fovea
