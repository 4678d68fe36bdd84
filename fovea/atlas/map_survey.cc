#include "fovea/atlas/map_survey.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <set>

#include "fovea/atlas/attention_map.h"
#include "fovea/atlas/even_attention.h"
#include "fovea/atlas/head_source.h"
#include "fovea/base/cancel.h"
#include "fovea/base/parallel.h"

namespace fovea {
namespace {

constexpr float kNotAllowed = std::numeric_limits<float>::quiet_NaN();
constexpr int64_t kSmallBinRows = 48;  // of one item, where bins are smaller
constexpr int64_t kSurveyRows = 192;   // looked at together: their queries stay in the cache
constexpr int64_t kSurveyItems = 16;   // side by side, each with a row of columns of its own
constexpr int64_t kStripFloats = int64_t{1} << 20;

std::vector<PositionGroup> bins_along(int64_t cells, int64_t block) {
  std::vector<PositionGroup> bins;
  for (int64_t i = 0; i < cells; i += block) bins.push_back({i, std::min(i + block, cells)});
  return bins;
}

// What one pass over some rows of bins adds.
struct SurveyPart {
  std::vector<double> columns;
  std::vector<double> distances;
};

class Surveyor {
 public:
  Surveyor(const std::shared_ptr<const AttentionRecord>& record, int64_t head, MapSurvey& survey)
      : record_(*record),
        survey_(survey),
        rows_(record->shape().rows),
        cols_(record->shape().cols),
        source_(*record, head),
        blocks_(source_, {0, cols_}),
        cells_(source_, {0, cols_}) {}

  void run() {
    const int64_t bins = survey_.share.size(0);
    const int64_t item_bins = std::max<int64_t>(1, kSmallBinRows / survey_.block);
    const int64_t items = blocks_of(bins, item_bins);
    // Items are added in their order, so that a sum does not depend on the threads.
    for (int64_t first = 0; first < items; first += kSurveyItems) {
      std::vector<SurveyPart> parts(static_cast<size_t>(std::min(kSurveyItems, items - first)));
      parallel_for(std::ssize(parts), [&](int64_t i) {
        const int64_t begin = (first + i) * item_bins;
        look(begin, std::min(begin + item_bins, bins), parts[static_cast<size_t>(i)]);
      });
      for (const SurveyPart& part : parts) add(part);
    }
  }

 private:
  // Bins [begin, end) down.
  void look(int64_t begin, int64_t end, SurveyPart& part) const {
    const int64_t block = survey_.block;
    Tensor column_max({end - begin, cols_}), column_sum({end - begin, cols_});
    const MatrixView<float> max = column_max.mutable_matrix<float>();
    const MatrixView<float> sum = column_sum.mutable_matrix<float>();
    const int64_t last = std::min(end * block, rows_);
    // A row of bins that is taller than the cache is filled piece by piece.
    for (int64_t row = begin * block; row < last; row += kSurveyRows) {
      check_cancelled();
      blocks_.add_columns(row, std::min(kSurveyRows, last - row), block, max, sum);
    }
    part.columns.resize(static_cast<size_t>(cols_));
    part.distances.resize(survey_.by_distance.size());
    for (int64_t bin = begin; bin < end; ++bin) {
      const float* sums = sum.row(bin - begin);
      fold_bins(bin, max.row(bin - begin), sums);
      for (int64_t col = 0; col < cols_; ++col) {
        part.columns[static_cast<size_t>(col)] += double{sums[col]};
      }
      if (!part.distances.empty()) add_distances(bin, sums, part.distances);
    }
  }

  void fold_bins(int64_t bin, const float* max, const float* sums) const {
    const int64_t block = survey_.block;
    float* share = survey_.share.mutable_matrix<float>().row(bin);
    float* largest = survey_.largest.mutable_matrix<float>().row(bin);
    const auto count = static_cast<double>(std::min(block, rows_ - bin * block));
    for (int64_t c = 0; c * block < cols_; ++c) {
      const int64_t end = std::min((c + 1) * block, cols_);
      double total = 0;
      for (int64_t col = c * block; col < end; ++col) {
        total += double{sums[col]};
        largest[c] = std::max(largest[c], max[col]);
      }
      share[c] = static_cast<float>(total / count);
    }
  }

  // Behind the last column that is at the same step from `place`, on the same side, as one at this
  // distance. What is one step for all rows of a bin stays so up to there.
  static int64_t end_of_step(int64_t distance, int64_t place) {
    const int64_t step = distance_step(distance);
    return distance >= 0 ? place - first_distance(step) + 1 : place + first_distance(step + 1);
  }

  // A column of a row of bins mostly lies at one step from all its rows; where it does not, its
  // weights are computed once more, one by one.
  void add_distances(int64_t bin, const float* sums, std::vector<double>& distances) const {
    const int64_t first = bin * survey_.block, last = std::min(first + survey_.block, rows_) - 1;
    const int64_t place = first + record_.rule.mask.query_offset;
    const auto one_step = [&](int64_t col) {
      const int64_t near = place - col, far = place + last - first - col;
      return (near == far || (near > 0) == (far > 0)) && distance_step(near) == distance_step(far);
    };
    const KeyRange seen{record_.rule.mask.key_range(first, cols_).begin,
                        record_.rule.mask.key_range(last, cols_).end};
    for (int64_t col = seen.begin; col < seen.end;) {
      if (one_step(col)) {
        const int64_t end = std::min(end_of_step(place - col, place), seen.end);
        double sum = 0;
        for (; col < end; ++col) sum += double{sums[col]};
        distances[static_cast<size_t>(distance_step(place - end + 1))] += sum;
        continue;
      }
      int64_t end = col + 1;
      while (end < seen.end && !one_step(end)) ++end;
      add_cells(first, last + 1, {col, end}, distances);
      col = end;
    }
  }

  void add_cells(int64_t row_begin, int64_t row_end, KeyRange cols,
                 std::vector<double>& distances) const {
    const int64_t begin = cols.begin / kPanelWidth * kPanelWidth;
    const int64_t strip = std::max<int64_t>(1, kStripFloats / (cols.end - begin));
    for (int64_t row = row_begin; row < row_end; row += strip) {
      const int64_t count = std::min(strip, row_end - row);
      Tensor buffer = Tensor::uninitialized({count, cols.end - begin});
      cells_.read(row, {begin, cols.end}, buffer.mutable_matrix<float>());
      const MatrixView<const float> weights = buffer.matrix<float>();
      for (int64_t r = 0; r < count; ++r) {
        const int64_t place = row + r + record_.rule.mask.query_offset;
        for (int64_t col = cols.begin; col < cols.end; ++col) {
          distances[static_cast<size_t>(distance_step(place - col))] +=
              double{weights(r, col - begin)};
        }
      }
    }
  }

  void add(const SurveyPart& part) {
    std::ranges::transform(survey_.column_sums, part.columns, survey_.column_sums.begin(),
                           std::plus<>());
    std::ranges::transform(survey_.by_distance, part.distances, survey_.by_distance.begin(),
                           std::plus<>());
  }

  const AttentionRecord& record_;
  MapSurvey& survey_;
  int64_t rows_, cols_;
  HeadSource source_;
  HeadBlocks blocks_;
  HeadRows cells_;
};

// Even attention by distance.
std::vector<double> even_distances(const Mask& mask, int64_t rows, int64_t cols, size_t steps,
                                   std::span<const int64_t> left_out) {
  const MaskCounts counts(mask, cols, left_out);
  std::vector<double> sums(steps);
  for (int64_t row = 0; row < rows; ++row) {
    const auto all = static_cast<double>(counts.all(row));
    if (all == 0) continue;
    const int64_t place = row + mask.query_offset;
    const auto add = [&](size_t step, int64_t begin, int64_t end) {
      const int64_t some = counts.within(row, std::clamp<int64_t>(begin, 0, cols),
                                         std::clamp<int64_t>(end, 0, cols));
      sums[step] += static_cast<double>(some) / all;
    };
    for (size_t step = 0; step < steps; ++step) {
      const int64_t near = first_distance(static_cast<int64_t>(step));
      const int64_t beyond = first_distance(static_cast<int64_t>(step) + 1);
      add(step, place - beyond + 1, place - near + 1);
      if (near > 0) add(step, place + near, place + beyond);
    }
  }
  return sums;
}

}  // namespace

int64_t distance_step(int64_t distance) {
  return std::bit_width(static_cast<uint64_t>(std::abs(distance)));
}

MapSurvey survey_map(const std::shared_ptr<const AttentionRecord>& record, int64_t head,
                     int64_t block, SurveyDistances distances) {
  const AttentionMap map(record, head);  // checks the head
  const auto rows = bins_along(map.rows(), block), cols = bins_along(map.cols(), block);
  const Shape shape{std::ssize(rows), std::ssize(cols)};
  MapSurvey survey{.block = block,
                   .share = Tensor(shape),
                   .largest = Tensor(shape),
                   .even = even_shares(*record, rows, cols),
                   .column_sums = std::vector<double>(static_cast<size_t>(map.cols()))};
  const bool one_axis =
      record->row_axis == record->col_axis || record->site.kind == SiteKind::kSelf;
  if (one_axis && distances == SurveyDistances::kAll) {
    const int64_t farthest = std::max(map.rows() + record->rule.mask.query_offset, map.cols());
    const auto steps = static_cast<size_t>(distance_step(farthest) + 1);
    survey.by_distance.resize(steps);
    survey.even_by_distance = even_distances(record->rule.mask, map.rows(), map.cols(), steps, {});
  }
  Surveyor(record, head, survey).run();
  const auto even = survey.even.values<float>();
  for (size_t i = 0; i < even.size(); ++i) {
    if (even[i] > 0) continue;
    survey.share.mutable_values<float>()[i] = kNotAllowed;
    survey.largest.mutable_values<float>()[i] = kNotAllowed;
  }
  return survey;
}

void take_out(MapSurvey& survey, const std::shared_ptr<const AttentionRecord>& record, int64_t head,
              std::span<const int64_t> columns) {
  if (columns.empty()) return;
  const AttentionMap map(record, head);
  const int64_t block = survey.block;
  survey.even =
      even_shares(*record, bins_along(map.rows(), block), bins_along(map.cols(), block), columns);
  std::set<int64_t> bins;
  for (const int64_t column : columns) bins.insert(column / block);
  const MatrixView<float> share = survey.share.mutable_matrix<float>();
  const MatrixView<float> largest = survey.largest.mutable_matrix<float>();
  for (const int64_t bin : bins) {
    const int64_t begin = bin * block, end = std::min(begin + block, map.cols());
    const int64_t strip = std::max<int64_t>(1, kStripFloats / (end - begin) / block);  // of bins
    for (int64_t first = 0; first < share.rows; first += strip) {
      const int64_t row_begin = first * block;
      const int64_t row_end = std::min((first + strip) * block, map.rows());
      const Tensor tile = map.tile({row_begin, row_end, begin, end});
      const MatrixView<const float> weights = tile.matrix<float>();
      for (int64_t r = first; r * block < row_end; ++r) {
        const int64_t last = std::min((r + 1) * block, row_end);
        if (std::isnan(share(r, bin))) continue;
        double total = 0;
        float most = 0;
        for (int64_t row = r * block; row < last; ++row) {
          for (int64_t col = begin; col < end; ++col) {
            if (std::ranges::find(columns, col) != columns.end()) continue;
            const float weight = weights(row - row_begin, col - begin);
            total += double{weight};
            most = std::max(most, weight);
          }
        }
        share(r, bin) = static_cast<float>(total / static_cast<double>(last - r * block));
        largest(r, bin) = most;
      }
    }
  }
  if (survey.by_distance.empty()) return;
  for (const int64_t column : columns) {
    const std::vector<float> weights = map.column(column);
    for (size_t row = 0; row < weights.size(); ++row) {
      const int64_t place = static_cast<int64_t>(row) + record->rule.mask.query_offset;
      survey.by_distance[static_cast<size_t>(distance_step(place - column))] -=
          double{weights[row]};
    }
  }
  for (double& sum : survey.by_distance) sum = std::max(sum, 0.0);
  survey.even_by_distance =
      even_distances(record->rule.mask, map.rows(), map.cols(), survey.by_distance.size(), columns);
}

}  // namespace fovea
