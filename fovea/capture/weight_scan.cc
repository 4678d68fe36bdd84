#include "fovea/capture/weight_scan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/base/parallel.h"

namespace fovea {
namespace {

constexpr int64_t kScanCells = int64_t{1} << 18;  // that a thread takes at a time
// Running sums kept apart, so that one addition need not wait for the last.
constexpr int64_t kSumLanes = 16;

bool is_weight(float value) {
  return value >= 0 && value <= std::numeric_limits<float>::max();
}

struct RowFacts {
  double sum = 0;
  float largest = 0;
  bool all_weights = true;
};

// Without a way out of the loops, so that they go by vectors.
RowFacts facts_of_row(const float* row, int64_t cols) {
  double lanes[kSumLanes] = {};
  float most[kSumLanes] = {};
  int bad = 0;
  int64_t c = 0;
  for (; c + kSumLanes <= cols; c += kSumLanes) {
    for (int64_t lane = 0; lane < kSumLanes; ++lane) {
      const float value = row[c + lane];
      lanes[lane] += double{value};
      most[lane] = std::max(most[lane], value);
      bad |= is_weight(value) ? 0 : 1;
    }
  }
  RowFacts facts;
  for (; c < cols; ++c) {
    facts.sum += double{row[c]};
    facts.largest = std::max(facts.largest, row[c]);
    bad |= is_weight(row[c]) ? 0 : 1;
  }
  for (const double lane : lanes) facts.sum += lane;
  facts.largest = std::max(facts.largest, *std::ranges::max_element(most));
  facts.all_weights = bad == 0;
  return facts;
}

bool all_zero(const float* begin, const float* end) {
  return std::all_of(begin, end, [](float value) { return value == 0; });
}

template <typename T>
float as_float(T value) {
  if constexpr (std::is_same_v<T, F16> || std::is_same_v<T, BF16>) {
    return to_float(value);
  } else {
    return static_cast<float>(value);
  }
}

// Rows in f32, where they lie or in a buffer.
template <typename T>
class FloatRows {
 public:
  explicit FloatRows(const Tensor& weights)
      : values_(weights.values<T>().data()), cols_(weights.size(2)) {
    if constexpr (!std::is_same_v<T, float>) buffer_.resize(static_cast<size_t>(cols_));
  }

  const float* row(int64_t index) {
    const T* from = values_ + index * cols_;
    if constexpr (std::is_same_v<T, float>) {
      return from;
    } else {
      std::transform(from, from + cols_, buffer_.begin(), as_float<T>);
      return buffer_.data();
    }
  }

 private:
  const T* values_;
  int64_t cols_;
  std::vector<float> buffer_;
};

[[noreturn]] void fail_weight(std::string_view name, int64_t head, int64_t row, int64_t col,
                              float value) {
  fail(ErrorKind::kBadFile,
       "{}: head {}, row {}, column {} is {}; weights are finite and 0 or more", name, head, row,
       col, value);
}

template <typename T>
WeightScan scan_rows(const Tensor& weights, std::string_view name) {
  const int64_t rows = weights.size(1), cols = weights.size(2), all = weights.size(0) * rows;
  const double tolerance = sum_tolerance(weights.dtype());
  const int64_t step = std::max<int64_t>(1, kScanCells / std::max<int64_t>(cols, 1));
  std::mutex mutex;  // of these two
  WeightScan scan;
  int64_t first_bad = all;
  parallel_for((all + step - 1) / step, [&](int64_t item) {
    FloatRows<T> reader(weights);
    WeightScan part{.zero_above = rows == cols};
    const int64_t end = std::min((item + 1) * step, all);
    for (int64_t i = item * step; i < end; ++i) {
      const float* row = reader.row(i);
      const RowFacts facts = facts_of_row(row, cols);
      if (!facts.all_weights) {
        const std::lock_guard lock(mutex);
        first_bad = std::min(first_bad, i);
        return;
      }
      if (part.zero_above) part.zero_above = all_zero(row + i % rows + 1, row + cols);
      const int64_t not_one = std::abs(facts.sum - 1) > tolerance ? 1 : 0;
      part.add({1, not_one, facts.sum, facts.sum, facts.largest, part.zero_above});
    }
    const std::lock_guard lock(mutex);
    scan.add(part);
  });
  if (first_bad == all) return scan;
  FloatRows<T> reader(weights);
  const float* row = reader.row(first_bad);
  const float* bad = std::find_if_not(row, row + cols, is_weight);
  fail_weight(name, first_bad / rows, first_bad % rows, bad - row, *bad);
}

}  // namespace

double sum_tolerance(DType dtype) {
  return dtype == DType::kF16 || dtype == DType::kBF16 ? 1e-2 : 1e-3;
}

void WeightScan::add(const WeightScan& other) {
  if (other.rows == 0) return;
  least_sum = rows == 0 ? other.least_sum : std::min(least_sum, other.least_sum);
  most_sum = rows == 0 ? other.most_sum : std::max(most_sum, other.most_sum);
  largest = std::max(largest, other.largest);
  zero_above = (rows == 0 || zero_above) && other.zero_above;
  rows += other.rows;
  not_one += other.not_one;
}

WeightScan scan_weights(const Tensor& weights, std::string_view name) {
  switch (weights.dtype()) {
    case DType::kF16:
      return scan_rows<F16>(weights, name);
    case DType::kBF16:
      return scan_rows<BF16>(weights, name);
    case DType::kF64:
      return scan_rows<double>(weights, name);
    default:
      return scan_rows<float>(weights, name);
  }
}

}  // namespace fovea
