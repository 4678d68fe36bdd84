// The largest weights of the rows or columns of a map, computed strip by strip: no map is kept.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "fovea/atlas/head_choice.h"
#include "fovea/capture/attention_record.h"
#include "fovea/capture/words.h"

namespace fovea {

struct TopWeight {
  int64_t index = 0;      // the group's number among the columns, or rows
  double weight = 0;      // rows by mean, columns by sum
  double times_even = 0;  // the weight over what even attention gives there

  bool operator==(const TopWeight&) const = default;
};

// For each group of rows, the `count` groups of columns with the largest weights: the largest
// first, equal ones in their order, none that the mask forbids. `head` is one map.
std::vector<std::vector<TopWeight>> top_of_rows(
    const std::shared_ptr<const AttentionRecord>& record, const HeadChoice& head,
    const std::vector<PositionGroup>& rows, const std::vector<PositionGroup>& cols, int64_t count);

// The same for one group of columns: who attends to it most.
std::vector<TopWeight> top_of_column(const std::shared_ptr<const AttentionRecord>& record,
                                     const HeadChoice& head, const std::vector<PositionGroup>& rows,
                                     PositionGroup col, int64_t count);

}  // namespace fovea
