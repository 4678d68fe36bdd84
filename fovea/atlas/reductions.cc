// Sums over a whole map: each visits every tile once and keeps O(N).
#include <algorithm>

#include "fovea/atlas/attention_map.h"
#include "fovea/base/cancel.h"
#include "fovea/base/parallel.h"
#include "fovea/kernels/fold.h"

namespace fovea {
namespace {

constexpr int64_t kBlockRows = 48;
constexpr int64_t kBlockCols = 256;   // a block of weights stays in the second-level cache
constexpr int64_t kLongPart = 16384;  // columns between two looks at whether it is cancelled

bool all_zero(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return value == 0; });
}

void stored_times_right(const HeadSource& source, int64_t cols, MatrixView<const float> x,
                        MatrixView<float> out) {
  const HeadRows reader(source, {0, cols});
  parallel_for(blocks_of(out.rows, kBlockRows), [&](int64_t item) {
    check_cancelled();
    const int64_t row = item * kBlockRows, count = std::min(out.rows - row, kBlockRows);
    Tensor buffer = Tensor::uninitialized({count, cols});
    reader.read(row, {0, cols}, buffer.mutable_matrix<float>());
    const MatrixView<const float> weights = buffer.matrix<float>();
    std::vector<double> sums(static_cast<size_t>(x.cols));
    for (int64_t r = 0; r < count; ++r) {
      std::ranges::fill(sums, 0.0);
      for (int64_t c = 0; c < cols; ++c) {
        const double weight = weights(r, c);
        for (int64_t f = 0; f < x.cols; ++f) sums[static_cast<size_t>(f)] += weight * x(c, f);
      }
      std::ranges::transform(sums, out.row(row + r),
                             [](double sum) { return static_cast<float>(sum); });
    }
  });
}

}  // namespace

std::vector<double> AttentionMap::times_left(std::span<const double> weights) const {
  if (static_cast<int64_t>(weights.size()) != rows()) {
    fail(ErrorKind::kInvalidArgument, "{} row weights were given for a map of {} rows",
         weights.size(), rows());
  }
  std::vector<double> sums(static_cast<size_t>(cols()), 0.0);
  // A thread owns a block of columns and walks down the rows, so nothing is shared.
  const int64_t blocks = (cols() + kBlockCols - 1) / kBlockCols;
  parallel_for(blocks, [&](int64_t item) {
    const KeyRange part{item * kBlockCols, std::min((item + 1) * kBlockCols, cols())};
    const HeadRows reader(source_, part);
    const auto width = static_cast<size_t>(part.end - part.begin);
    Tensor buffer = Tensor::uninitialized({kBlockRows, part.end - part.begin});
    std::vector<float> block_weights(kBlockRows);
    std::vector<float> block_sums(width);
    for (int64_t row = 0; row < rows(); row += kBlockRows) {
      check_cancelled();
      const int64_t count = std::min(rows() - row, kBlockRows);
      const auto row_weights =
          weights.subspan(static_cast<size_t>(row), static_cast<size_t>(count));
      const KeyRange seen = visible(row, row + count);
      if (seen.begin >= part.end || seen.end <= part.begin || all_zero(row_weights)) continue;
      const auto block = buffer.mutable_matrix<float>().block(0, 0, count, part.end - part.begin);
      reader.read(row, part, block);
      // In f32 over one block of rows, in double over many.
      std::transform(row_weights.begin(), row_weights.end(), block_weights.begin(),
                     [](double weight) { return static_cast<float>(weight); });
      std::fill(block_sums.begin(), block_sums.end(), 0.0F);
      fold_weighted(block, std::span(block_weights).first(row_weights.size()), block_sums);
      for (size_t c = 0; c < width; ++c) {
        sums[static_cast<size_t>(part.begin) + c] += double{block_sums[c]};
      }
    }
  });
  return sums;
}

std::vector<double> AttentionMap::column_sums() const {
  return times_left(std::vector<double>(static_cast<size_t>(rows()), 1.0));
}

Tensor AttentionMap::times_right(const Tensor& x) const {
  if (x.rank() != 2 || x.size(0) != cols() || x.dtype() != DType::kF32) {
    fail(ErrorKind::kInvalidArgument,
         "a map of {} columns times {} {} cannot be; give F32 [{}, features]", cols(),
         dtype_name(x.dtype()), to_string(x.shape()), cols());
  }
  const int64_t features = x.size(1);
  Tensor out({rows(), features});
  if (source_.is_stored()) {
    stored_times_right(source_, cols(), x.matrix<float>(), out.mutable_matrix<float>());
    return out;
  }
  std::vector<double> unused(static_cast<size_t>(rows()));
  for (int64_t first = 0; first < features; first += kMaxHeadDim) {
    const int64_t count = std::min(features - first, kMaxHeadDim);
    attention_of_head(source_.inputs, head_, x.matrix<float>().block(0, first, cols(), count),
                      out.mutable_matrix<float>().block(0, first, rows(), count), unused);
  }
  return out;
}

std::vector<double> AttentionMap::entropy() const {
  std::vector<double> entropies(static_cast<size_t>(rows()), 0.0);
  const HeadRows reader(source_, {0, cols()});
  parallel_for((rows() + kBlockRows - 1) / kBlockRows, [&](int64_t item) {
    const auto row = static_cast<size_t>(item * kBlockRows);
    const auto count = static_cast<size_t>(std::min(rows() - item * kBlockRows, kBlockRows));
    const KeyRange seen =
        visible(item * kBlockRows, item * kBlockRows + static_cast<int64_t>(count));
    for (int64_t col = seen.begin / kPanelWidth * kPanelWidth; col < seen.end; col += kLongPart) {
      check_cancelled();
      reader.add_entropy(item * kBlockRows, {col, std::min(col + kLongPart, seen.end)},
                         std::span(entropies).subspan(row, count));
    }
  });
  return entropies;
}

}  // namespace fovea
