#include "fovea/atlas/merged_map.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fovea/atlas/even_attention.h"
#include "fovea/atlas/head_strips.h"
#include "fovea/base/error.h"
#include "fovea/base/parallel.h"

namespace fovea {
namespace {

constexpr int64_t kMergedStripCells = int64_t{1} << 20;
constexpr float kForbidden = std::numeric_limits<float>::quiet_NaN();
// Running values kept apart, so that one addition need not wait for the last.
constexpr int64_t kLanes = 16;

double sum_of(const float* weights, int64_t count) {
  double lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int64_t lane = 0; lane < kLanes; ++lane) lanes[lane] += double{weights[i + lane]};
  }
  double sum = 0;
  for (; i < count; ++i) sum += double{weights[i]};
  for (const double lane : lanes) sum += lane;
  return sum;
}

// One row of groups while it is being filled.
class GroupRow {
 public:
  // `out` holds kForbidden at first, or what earlier rows of the group have left.
  GroupRow(const std::vector<PositionGroup>& cols, Merge merge, float* out)
      : cols_(cols), merge_(merge), out_(out) {}

  // `weights` begins at the first column of the first group; `row` is its place in the map.
  void add(const Mask& mask, int64_t row, int64_t all_cols, const float* weights) {
    const KeyRange seen = mask.key_range(row, all_cols);
    const bool range_only = mask.range_only();
    const int64_t first_col = cols_.front().begin;
    for (size_t g = 0; g < cols_.size(); ++g) {
      const int64_t begin = std::max(cols_[g].begin, seen.begin);
      const int64_t end = std::min(cols_[g].end, seen.end);
      if (begin >= end) continue;
      if (range_only && merge_ == Merge::kMax) {
        put(out_[g], *std::max_element(weights + begin - first_col, weights + end - first_col));
        continue;
      }
      for (int64_t col = begin; col < end; ++col) {
        if (range_only || mask.allows(row, col)) put(out_[g], weights[col - first_col]);
      }
    }
  }

  void finish(int64_t rows) {
    if (merge_ == Merge::kMax || rows == 1) return;
    for (size_t g = 0; g < cols_.size(); ++g) out_[g] /= static_cast<float>(rows);
  }

 private:
  void put(float& cell, float weight) const {
    if (std::isnan(cell)) {
      cell = weight;
    } else {
      cell = merge_ == Merge::kMax ? std::max(cell, weight) : cell + weight;
    }
  }

  const std::vector<PositionGroup>& cols_;
  Merge merge_;
  float* out_;
};

void check_merge(Merge merge, MapValue value) {
  if (value != MapValue::kTimesEven || merge != Merge::kMax) return;
  fail(ErrorKind::kUnsupported, Field{"of"},
       "the largest of many cells is a weight, not how many times even; choose weight");
}

void clear_columns(Tensor& strip, int64_t first, std::span<const int64_t> columns) {
  const MatrixView<float> view = strip.mutable_matrix<float>();
  for (const int64_t column : columns) {
    if (column < first || column >= first + view.cols) continue;
    for (int64_t r = 0; r < view.rows; ++r) view(r, column - first) = 0;
  }
}

// A cell of which all columns are left out is 0 of nothing, and stays so.
void divide_by_even(Tensor& weights, const Tensor& even) {
  std::ranges::transform(
      weights.values<float>(), even.values<float>(), weights.mutable_values<float>().begin(),
      [](float weight, float share) { return share > 0 ? weight / share : weight; });
}

// From rows by mean and columns by sum to what the value is of a group.
void finish_value(MergedMap& merged, const AttentionRecord& record,
                  const std::vector<PositionGroup>& rows, const std::vector<PositionGroup>& cols,
                  MapValue value, std::span<const int64_t> left_out = {}) {
  const MatrixView<float> cells = merged.weights.mutable_matrix<float>();
  if (value == MapValue::kTimesEven) {
    divide_by_even(merged.weights, even_shares(record, rows, cols, left_out));
  }
  if (value != MapValue::kScore) return;
  const MaskCounts counts(record.rule.mask, record.shape().cols);
  parallel_for(cells.rows, [&](int64_t r) {
    const PositionGroup& group = rows[static_cast<size_t>(r)];
    for (int64_t c = 0; c < cells.cols; ++c) {
      const PositionGroup& part = cols[static_cast<size_t>(c)];
      int64_t count = 0;
      for (int64_t row = group.begin; row < group.end; ++row) {
        count += counts.within(row, part.begin, part.end);
      }
      // A cut edge has no score.
      float& cell = cells(r, c);
      cell = std::isfinite(cell)
                 ? cell * static_cast<float>(group.size()) / static_cast<float>(count)
                 : kForbidden;
    }
  });
}

}  // namespace

MergedMap map_of(const MapSurvey& survey, Merge merge, MapValue value) {
  check_merge(merge, value);
  MergedMap merged;
  const MatrixView<const float> share = survey.share.matrix<float>();
  for (int64_t r = 0; r < share.rows; ++r) {
    double sum = 0;
    for (int64_t c = 0; c < share.cols; ++c) {
      if (!std::isnan(share(r, c))) sum += double{share(r, c)};
    }
    merged.row_sums.push_back(sum);
  }
  merged.weights = (merge == Merge::kMax ? survey.largest : survey.share).clone();
  if (value == MapValue::kTimesEven) divide_by_even(merged.weights, survey.even);
  return merged;
}

MergedMap pooled_map(const std::shared_ptr<const AttentionRecord>& record, int64_t head,
                     int64_t block, Merge merge, MapValue value) {
  check_merge(merge, value);
  return map_of(survey_map(record, head, block, SurveyDistances::kNone), merge, value);
}

MergedMap merged_map(const std::shared_ptr<const AttentionRecord>& record, HeadChoice head,
                     const std::vector<PositionGroup>& rows, const std::vector<PositionGroup>& cols,
                     Merge merge, MapValue value, std::span<const int64_t> left_out) {
  check_merge(merge, value);
  const auto row_groups = static_cast<int64_t>(rows.size());
  MergedMap merged;
  merged.weights = Tensor::uninitialized({row_groups, static_cast<int64_t>(cols.size())});
  if (rows.empty() || cols.empty()) return merged;
  const HeadStrips strips(record, head, value);
  const Mask& mask = record->rule.mask;
  const int64_t all_cols = record->shape().cols;
  const int64_t width = cols.back().end - cols.front().begin;
  const int64_t strip_rows = std::max<int64_t>(1, kMergedStripCells / width);
  const MatrixView<float> out = merged.weights.mutable_matrix<float>();
  const int64_t rows_begin = rows.front().begin, rows_end = rows.back().end;
  merged.row_sums.resize(static_cast<size_t>(rows_end - rows_begin));
  std::ranges::fill(merged.weights.mutable_values<float>(), kForbidden);

  // A strip may end within a group, so that even one long word needs no more than a strip.
  int64_t first = 0;
  for (int64_t begin = rows_begin; begin < rows_end; begin += strip_rows) {
    const int64_t end = std::min(begin + strip_rows, rows_end);
    while (rows[static_cast<size_t>(first)].end <= begin) ++first;
    int64_t last = first + 1;
    while (last < row_groups && rows[static_cast<size_t>(last)].begin < end) ++last;
    // Ranges only move forward with the row: behind what the last row sees there is nothing.
    const int64_t seen =
        std::clamp(mask.key_range(end - 1, all_cols).end, cols.front().begin, cols.back().end);
    Tensor strip = strips.strip({begin, end, cols.front().begin, seen});
    clear_columns(strip, cols.front().begin, left_out);
    const MatrixView<const float> weights = strip.matrix<float>();
    const SingleThread one((end - begin) * width < kMergedStripCells / 16);
    parallel_for(last - first, [&](int64_t item) {
      const PositionGroup& group = rows[static_cast<size_t>(first + item)];
      GroupRow line(cols, merge, out.row(first + item));
      for (int64_t row = std::max(group.begin, begin); row < std::min(group.end, end); ++row) {
        const float* cells = weights.row(row - begin);
        line.add(mask, row, all_cols, cells);
        merged.row_sums[static_cast<size_t>(row - rows_begin)] = sum_of(cells, weights.cols);
      }
      if (group.end <= end) line.finish(group.size());
    });
  }
  if (merge == Merge::kWords) finish_value(merged, *record, rows, cols, value, left_out);
  return merged;
}

std::vector<double> line_of(const std::shared_ptr<const AttentionRecord>& record, int64_t index,
                            HeadChoice head, bool column, MapValue value) {
  if (value != MapValue::kWeight) {
    const AttentionShape shape = record->shape();
    const std::vector<PositionGroup> one{{index, index + 1}};
    std::vector<PositionGroup> each;
    for (int64_t i = 0; i < (column ? shape.rows : shape.cols); ++i) each.push_back({i, i + 1});
    const MergedMap map =
        merged_map(record, head, column ? each : one, column ? one : each, Merge::kWords, value);
    const auto values = map.weights.values<float>();
    return {values.begin(), values.end()};
  }
  const int64_t heads = record->shape().heads;
  std::vector<double> result;
  for (int64_t h = 0; h < heads; ++h) {
    if (head.kind == HeadChoice::Kind::kOne && h != head.head) continue;
    const AttentionMap map(record, h);
    const std::vector<float> line = column ? map.column(index) : map.row(index);
    if (result.empty()) result.resize(line.size());
    for (size_t i = 0; i < line.size(); ++i) {
      if (head.kind == HeadChoice::Kind::kMax) {
        result[i] = std::max(result[i], double{line[i]});
      } else if (head.kind == HeadChoice::Kind::kMin) {
        result[i] = h == 0 ? double{line[i]} : std::min(result[i], double{line[i]});
      } else {
        result[i] += head.kind == HeadChoice::Kind::kOne
                         ? double{line[i]}
                         : double{line[i]} / static_cast<double>(heads);
      }
    }
  }
  return result;
}

}  // namespace fovea
