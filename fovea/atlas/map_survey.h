// What an overview of one head's map says: bins, what each column receives, and how far rows look.
// One pass over the weights gives all of it. Nothing larger than the overview is kept.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fovea/capture/attention_record.h"

namespace fovea {

// Distances 0, 1, 2 to 3, 4 to 7, ...: where one lies, either way.
int64_t distance_step(int64_t distance);
inline int64_t first_distance(int64_t step) {
  return step == 0 ? 0 : int64_t{1} << (step - 1);
}

struct MapSurvey {
  int64_t block = 1;  // rows and columns of a bin; fewer in the last
  // f32 [row bins, column bins]
  Tensor share;    // rows by mean, columns by sum; NaN where no row may see anything
  Tensor largest;  // single weight; NaN likewise
  Tensor even;     // the share that even attention gives (even_attention.h)
  // What each column receives from all rows.
  std::vector<double> column_sums;
  // The weights, and those of even attention, summed by distance_step() between row and column.
  // Empty where rows and columns do not count along one axis, or nobody asked.
  std::vector<double> by_distance, even_by_distance;
};

enum class SurveyDistances { kNone, kAll };

// Distances cost a little more than the rest, most in large bins. Throws Error{kInvalidArgument} if
// there is no such head.
MapSurvey survey_map(const std::shared_ptr<const AttentionRecord>& record, int64_t head,
                     int64_t block, SurveyDistances distances = SurveyDistances::kAll);

// Takes columns out of all but `column_sums`: their bins are computed again without them, and even
// attention counts those that are left.
void take_out(MapSurvey& survey, const std::shared_ptr<const AttentionRecord>& record, int64_t head,
              std::span<const int64_t> columns);

}  // namespace fovea
