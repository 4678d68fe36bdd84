// A map whose positions are put together in groups. It shows one head, or the mean, maximum or
// minimum of all heads. It is computed strip by strip, so that only the result is kept.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "fovea/atlas/head_choice.h"
#include "fovea/atlas/map_survey.h"
#include "fovea/atlas/map_value.h"
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
  // The sum of each row over the columns of all groups. In pooled_map, the mean sum of each block's
  // rows.
  std::vector<double> row_sums;
};

// Groups are neighbours in rising order; rows and columns outside of them are not computed. With
// Merge::kWords a score is the mean of the allowed ones, and times even compares what a group gets
// with what it would get if every row looked evenly at all it may see.
//   x(R, C) = share(R, C) / even(R, C),  even(R, C) = mean over i in R of (allowed in C) /
//   allowed(i)
// Columns of `left_out` count for nothing: neither their weight nor their part of even attention.
// Throws Error{kUnsupported} for values that were not captured, and for the maximum of times even.
MergedMap merged_map(const std::shared_ptr<const AttentionRecord>& record, HeadChoice head,
                     const std::vector<PositionGroup>& rows, const std::vector<PositionGroup>& cols,
                     Merge merge, MapValue value = MapValue::kWeight,
                     std::span<const int64_t> left_out = {});

// The same for every block of block x block cells of one head, without the weights ever being
// stored. `value` is kWeight or kTimesEven.
MergedMap pooled_map(const std::shared_ptr<const AttentionRecord>& record, int64_t head,
                     int64_t block, Merge merge, MapValue value = MapValue::kWeight);
// The map that a survey holds. `value` is kWeight or kTimesEven.
MergedMap map_of(const MapSurvey& survey, Merge merge, MapValue value);

// One row or column of the map of a head, or of the mean (also for kAll), maximum or minimum of all
// heads. Where the mask forbids, a weight is 0 and another value NaN.
std::vector<double> line_of(const std::shared_ptr<const AttentionRecord>& record, int64_t index,
                            HeadChoice head, bool column, MapValue value = MapValue::kWeight);

}  // namespace fovea
