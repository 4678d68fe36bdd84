// Rows of a matrix one by one: some of them, sums of some, each with a factor. Experts work on the
// rows that a router gives them.
#pragma once

#include <span>
#include <vector>

#include "fovea/ops/tape.h"

namespace fovea::ops {

// Rows of `x` [rows, width] by number, as often as they are named: [numbers, width].
Value take_rows(const Value& x, std::span<const int64_t> numbers);

// Each row times its factor: `factors` is [rows] or [rows, 1].
Value scale_rows(const Value& x, const Value& factors);

// Rows that are added to rows of a result.
struct PlacedRows {
  Value rows;                    // [numbers, width]
  std::vector<int64_t> numbers;  // where each is added
};
// [rows, width] of zeros plus all of them.
Value sum_rows(std::span<const PlacedRows> parts, int64_t rows, int64_t width);

// The softmax of each row of `x` [rows, width] at `count` of its columns: [rows * count, 1], where
// `columns` names those of row 0, then of row 1, ... Its sum is over all columns, or over the
// chosen alone, which then share 1.
enum class SoftmaxOver { kAll, kChosen };
Value chosen_softmax(const Value& x, std::span<const int64_t> columns, SoftmaxOver over);

}  // namespace fovea::ops
