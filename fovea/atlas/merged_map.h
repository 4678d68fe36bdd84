// A map of one head, or of the mean or maximum of all heads, whose positions are put together in
// groups. It is computed strip by strip, so that only the result is kept.
#pragma once

#include <memory>
#include <vector>

#include "fovea/atlas/head_choice.h"
#include "fovea/capture/attention_record.h"
#include "fovea/capture/words.h"

namespace fovea {

// How the cells of a group become one.
enum class Merge {
  kWords,  // mean over rows, sum over columns: a row still sums to 1
  kMax,    // the largest cell: no small bright spot is lost in an overview
};

struct MergedMap {
  Tensor weights;  // f32 [row groups, column groups]; NaN: the mask forbids all of it
  // The sum of each row of the map, over the columns of all groups. In pooled_map, the mean sum of
  // each block's rows.
  std::vector<double> row_sums;
};

// Groups are neighbours in rising order; rows and columns outside of them are not computed.
MergedMap merged_map(const std::shared_ptr<const AttentionRecord>& record, HeadChoice head,
                     const std::vector<PositionGroup>& rows, const std::vector<PositionGroup>& cols,
                     Merge merge);

// The maximum of every block of block x block cells of one head: what merged_map gives for such
// groups and Merge::kMax, without the weights ever being stored.
MergedMap pooled_map(const std::shared_ptr<const AttentionRecord>& record, int64_t head,
                     int64_t block);

// One row or column of a map: of one head, of the mean of all (also for kAll), or of their maximum.
std::vector<double> line_of(const std::shared_ptr<const AttentionRecord>& record, int64_t index,
                            HeadChoice head, bool column);

}  // namespace fovea
