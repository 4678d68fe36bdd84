#include "fovea/atlas/head_source.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "fovea/atlas/attention_map.h"
#include "fovea/tensor/convert.h"

namespace fovea {
namespace {

Tensor head_lse(const AttentionRecord& record, int64_t head) {
  const Tensor all = convert(record.lse, DType::kF64);
  const int64_t rows = all.size(1);
  return Tensor::from(Shape{rows}, all.values<double>().subspan(static_cast<size_t>(head * rows),
                                                                static_cast<size_t>(rows)));
}

HeadsView stored_heads(const Tensor& weights) {
  const int64_t rows = weights.size(1), cols = weights.size(2);
  return {weights.raw(), weights.dtype(), weights.size(0), rows, cols, rows * cols, cols};
}

// The columns of one row, in f32.
void read_stored(const HeadSource& source, int64_t row, KeyRange columns, float* out) {
  HeadsView part = source.stored;
  part.data += columns.begin * static_cast<int64_t>(dtype_bytes(part.dtype));
  part.dim = columns.end - columns.begin;
  part.read_row(source.head, row, 1, out);
}

// Takes one row into a row of blocks.
void fold_row(std::span<const float> row, int64_t bin, float* max, double* sum) {
  const auto cols = std::ssize(row);
  for (int64_t begin = 0; begin < cols; begin += bin, ++max, ++sum) {
    for (const float weight : row.subspan(static_cast<size_t>(begin),
                                          static_cast<size_t>(std::min(bin, cols - begin)))) {
      *max = std::max(*max, weight);
      *sum += double{weight};
    }
  }
}

}  // namespace

HeadSource::HeadSource(const AttentionRecord& record, int64_t which) : head(which) {
  if (!record.has_queries()) {
    stored = stored_heads(record.weights);
    return;
  }
  inputs = inputs_of(record);
  validate(inputs);
  lse = head_lse(record, head);
}

HeadRows::HeadRows(const HeadSource& source, KeyRange columns) : source_(source) {
  if (!source.is_stored()) tiles_.emplace(source.inputs, source.head, columns);
}

void HeadRows::read(int64_t row, KeyRange part, MatrixView<float> out) const {
  if (tiles_) return tiles_->weights(row, part, source_.lse_of(row), out);
  for (int64_t r = 0; r < out.rows; ++r) read_stored(source_, row + r, part, out.row(r));
}

void HeadRows::add_entropy(int64_t row, KeyRange part, std::span<double> entropies) const {
  if (tiles_) {
    return tiles_->add_entropy(row, part, source_.lse_of(row).first(entropies.size()), entropies);
  }
  std::vector<float> weights(static_cast<size_t>(part.end - part.begin));
  for (double& entropy : entropies) {
    read_stored(source_, row++, part, weights.data());
    for (const float weight : weights) {
      if (weight > 0) entropy -= double{weight} * std::log(double{weight});
    }
  }
}

void HeadRows::read_scores(int64_t row, KeyRange part, MatrixView<float> out) const {
  FOVEA_ASSERT(tiles_.has_value());
  tiles_->scores(row, part, out);
}

HeadBlocks::HeadBlocks(const HeadSource& source, KeyRange columns)
    : source_(source), columns_(columns) {
  if (!source.is_stored()) pools_.emplace(source.inputs, source.head, columns);
}

void HeadBlocks::add_blocks(int64_t row, int64_t count, int64_t bin, MatrixView<float> max,
                            MatrixView<double> sum) const {
  if (pools_) {
    const auto lse = source_.lse_of(row).first(static_cast<size_t>(count));
    return pools_->add_blocks(row, lse, bin, max, sum);
  }
  std::vector<float> weights(static_cast<size_t>(columns_.end - columns_.begin));
  for (int64_t r = 0; r < count; ++r) {
    read_stored(source_, row + r, columns_, weights.data());
    fold_row(weights, bin, max.row(r / bin), sum.row(r / bin));
  }
}

void HeadBlocks::add_columns(int64_t row, int64_t count, int64_t bin, MatrixView<float> max,
                             MatrixView<float> sum) const {
  if (pools_) {
    const auto lse = source_.lse_of(row).first(static_cast<size_t>(count));
    return pools_->add_columns(row, lse, bin, max, sum);
  }
  std::vector<float> weights(static_cast<size_t>(columns_.end - columns_.begin));
  for (int64_t r = 0; r < count; ++r) {
    read_stored(source_, row + r, columns_, weights.data());
    float* most = max.row(r / bin);
    float* total = sum.row(r / bin);
    for (size_t c = 0; c < weights.size(); ++c) {
      most[c] = std::max(most[c], weights[c]);
      total[c] += weights[c];
    }
  }
}

void HeadBlocks::add_rows(std::span<const int64_t> rows, int64_t bin, MatrixView<float> max,
                          MatrixView<double> sum) const {
  if (pools_) {
    std::vector<double> lse;
    for (const int64_t row : rows) lse.push_back(source_.lse_of(row).front());
    return pools_->add_rows(rows, lse, bin, max, sum);
  }
  std::vector<float> weights(static_cast<size_t>(columns_.end - columns_.begin));
  for (size_t r = 0; r < rows.size(); ++r) {
    read_stored(source_, rows[r], columns_, weights.data());
    fold_row(weights, bin, max.row(static_cast<int64_t>(r)), sum.row(static_cast<int64_t>(r)));
  }
}

}  // namespace fovea
