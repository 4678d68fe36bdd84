#include "fovea/atlas/cell_source.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "fovea/atlas/even_attention.h"
#include "fovea/atlas/head_strips.h"
#include "fovea/base/cancel.h"
#include "fovea/base/error.h"
#include "fovea/base/parallel.h"

namespace fovea {
namespace {

constexpr int64_t kStripCells = int64_t{1} << 19;

// Puts rows of cells into blocks. Only what the mask allows counts.
class BlockRows {
 public:
  BlockRows(const CellSource& source, Region region, int64_t bin)
      : source_(source), mask_(source.record().rule.mask), region_(region), bin_(bin) {}

  // `cells` begins at the region's first column; `row` is its place in the map.
  void add(int64_t row, int64_t all_cols, const float* cells, float* max, float* sum) const {
    const KeyRange seen = mask_.key_range(row, all_cols);
    const int64_t begin = std::max(seen.begin, region_.col_begin);
    const int64_t end = std::min(seen.end, region_.col_end);
    const bool range_only = mask_.range_only();
    for (int64_t col = begin; col < end;) {
      const int64_t block = (col - region_.col_begin) / bin_;
      const int64_t block_end = std::min(end, region_.col_begin + (block + 1) * bin_);
      float total = 0;
      for (; col < block_end; ++col) {
        if (!range_only && !mask_.allows(row, col)) continue;
        const float cell = cells[col - region_.col_begin];
        if (!std::isfinite(cell)) continue;  // a cut edge has no score
        total += cell;
        max[block] = source_.stronger(cell, max[block]);
      }
      sum[block] += total;
    }
  }

 private:
  const CellSource& source_;
  const Mask& mask_;
  Region region_;
  int64_t bin_;
};

class RecordCells : public CellSource {
 public:
  RecordCells(std::shared_ptr<const AttentionRecord> record, const HeadChoice& head, MapValue value)
      : record_(std::move(record)), strips_(record_, head, value), value_(value) {}

  const AttentionRecord& record() const override { return *record_; }
  float lowest() const override {
    return value_ == MapValue::kScore ? -std::numeric_limits<float>::infinity() : 0;
  }
  Tensor cells(Region region) const override {
    Tensor result = strips_.strip(region);
    if (value_ == MapValue::kTimesEven) multiply_by_keys(region, result);
    return result;
  }

 private:
  // How many keys each row may see.
  void multiply_by_keys(Region region, Tensor& cells) const {
    const MaskCounts counts(record_->rule.mask, cols());
    const MatrixView<float> view = cells.mutable_matrix<float>();
    for (int64_t r = 0; r < view.rows; ++r) {
      const auto keys = static_cast<float>(counts.all(region.row_begin + r));
      for (int64_t c = 0; c < view.cols; ++c) view(r, c) *= keys;
    }
  }

  std::shared_ptr<const AttentionRecord> record_;
  HeadStrips strips_;
  MapValue value_;
};

// The weights of one head, which kernels pool as they compute them.
class HeadCells : public CellSource {
 public:
  explicit HeadCells(AttentionMap map) : map_(std::move(map)) {}

  const AttentionRecord& record() const override { return map_.record(); }
  Tensor cells(Region region) const override { return map_.tile(region); }
  PyramidTile pooled(Region region, int64_t bin) const override {
    if (bin == 1) {
      const Tensor weights = map_.tile(region);
      return {weights, weights};
    }
    PooledTile tile = map_.pooled(region, bin);
    return {std::move(tile.max), std::move(tile.sum)};
  }
  PyramidTile sampled(Region region, int64_t bin, int64_t rows) const override {
    SampledTile tile = map_.sampled(region, bin, rows);
    return {std::move(tile.max), std::move(tile.sum)};
  }

 private:
  AttentionMap map_;
};

class DifferenceCells : public CellSource {
 public:
  DifferenceCells(std::shared_ptr<const CellSource> a, std::shared_ptr<const CellSource> b)
      : a_(std::move(a)), b_(std::move(b)) {}

  const AttentionRecord& record() const override { return a_->record(); }
  bool by_magnitude() const override { return true; }
  Tensor cells(Region region) const override {
    Tensor result = a_->cells(region);
    const Tensor other = b_->cells(region);
    const auto values = result.mutable_values<float>();
    std::ranges::transform(values, other.values<float>(), values.begin(), std::minus<>());
    const Mask& mask = b_->record().rule.mask;
    const MatrixView<float> view = result.mutable_matrix<float>();
    for (int64_t r = 0; r < view.rows; ++r) {
      for (int64_t c = 0; c < view.cols; ++c) {
        if (mask.allows(region.row_begin + r, region.col_begin + c)) continue;
        view(r, c) = std::numeric_limits<float>::quiet_NaN();
      }
    }
    return result;
  }

 private:
  std::shared_ptr<const CellSource> a_, b_;
};

PyramidTile empty_blocks(const CellSource& source, Region region, int64_t bin) {
  const Shape shape{blocks_of(region.rows(), bin), blocks_of(region.cols(), bin)};
  PyramidTile blocks{Tensor(shape), Tensor(shape)};
  std::ranges::fill(blocks.max.mutable_values<float>(), source.lowest());
  return blocks;
}

}  // namespace

float CellSource::stronger(float a, float b) const {
  return by_magnitude() ? std::abs(a) > std::abs(b) ? a : b : std::max(a, b);
}

Tensor CellSource::allowed(Region region, int64_t bin) const {
  return allowed_cells(record(), region, bin);
}

PyramidTile CellSource::pooled(Region region, int64_t bin) const {
  PyramidTile result = empty_blocks(*this, region, bin);
  const MatrixView<float> max = result.max.mutable_matrix<float>();
  const MatrixView<float> sum = result.sum.mutable_matrix<float>();
  if (max.rows == 0 || max.cols == 0) return result;
  const BlockRows blocks(*this, region, bin);
  const int64_t strip = std::max<int64_t>(kStripCells / region.cols() / bin, 1) * bin;
  for (int64_t begin = region.row_begin; begin < region.row_end; begin += strip) {
    check_cancelled();
    const int64_t end = std::min(begin + strip, region.row_end);
    const Tensor cells = this->cells({begin, end, region.col_begin, region.col_end});
    const MatrixView<const float> view = cells.matrix<float>();
    parallel_for(blocks_of(end - begin, bin), [&](int64_t item) {
      const int64_t block = (begin - region.row_begin) / bin + item;
      const int64_t first = begin + item * bin;
      for (int64_t row = first; row < std::min(first + bin, end); ++row) {
        blocks.add(row, cols(), view.row(row - begin), max.row(block), sum.row(block));
      }
    });
  }
  return result;
}

// Neighbouring rows, because computing one of a few costs as much as computing all of them.
PyramidTile CellSource::sampled(Region region, int64_t bin, int64_t rows) const {
  if (bin <= rows) return pooled(region, bin);
  PyramidTile result = empty_blocks(*this, region, bin);
  const MatrixView<float> max = result.max.mutable_matrix<float>();
  const MatrixView<float> sum = result.sum.mutable_matrix<float>();
  const BlockRows blocks(*this, region, bin);
  parallel_for(max.rows, [&](int64_t block) {
    check_cancelled();
    const int64_t first = region.row_begin + block * bin;
    const int64_t last = std::min(first + bin, region.row_end);
    const int64_t count = std::min(rows, last - first);
    // From the middle of the block on, where rows see about as much as they do on average.
    const int64_t begin = first + (last - first - count) / 2;
    const Tensor cells = this->cells({begin, begin + count, region.col_begin, region.col_end});
    for (int64_t r = 0; r < count; ++r) {
      blocks.add(begin + r, cols(), cells.matrix<float>().row(r), max.row(block), sum.row(block));
    }
    const auto factor = static_cast<float>(last - first) / static_cast<float>(count);
    for (int64_t c = 0; c < sum.cols; ++c) sum(block, c) *= factor;
  });
  return result;
}

std::shared_ptr<const CellSource> cell_source(const std::shared_ptr<const AttentionRecord>& record,
                                              const HeadChoice& head, MapValue value) {
  const HeadChoice one = single_map(head, *record);
  if (one.kind == HeadChoice::Kind::kOne && value == MapValue::kWeight) {
    return std::make_shared<const HeadCells>(AttentionMap(record, one.head));
  }
  return std::make_shared<const RecordCells>(record, one, value);
}

std::shared_ptr<const CellSource> cell_source(AttentionMap map) {
  return std::make_shared<const HeadCells>(std::move(map));
}

std::shared_ptr<const CellSource> difference_of(std::shared_ptr<const CellSource> a,
                                                std::shared_ptr<const CellSource> b) {
  if (a->rows() != b->rows() || a->cols() != b->cols()) {
    fail(ErrorKind::kInvalidArgument,
         "a map of {} x {} positions and one of {} x {} have no difference; compare runs of inputs "
         "of one length",
         a->rows(), a->cols(), b->rows(), b->cols());
  }
  return std::make_shared<const DifferenceCells>(std::move(a), std::move(b));
}

}  // namespace fovea
