// Rows of the map of one head, or of several put together cell by cell, as numbers of any kind.
#pragma once

#include <memory>
#include <vector>

#include "fovea/atlas/attention_map.h"
#include "fovea/atlas/head_choice.h"
#include "fovea/atlas/map_value.h"

namespace fovea {

// One head. Copies share the record.
class HeadValues {
 public:
  // Throws Error{kUnsupported} for values that were not captured.
  HeadValues(const std::shared_ptr<const AttentionRecord>& record, int64_t head, MapValue value);

  // f32. What the mask forbids is 0, of scores -infinity. kTimesEven gives weights: who puts cells
  // together divides afterwards.
  Tensor strip(Region region) const;

 private:
  AttentionMap map_;
  MapValue value_;
  std::vector<float> lengths_;
};

// The head that is meant, or the mean, maximum or minimum of all; kAll is the mean.
class HeadStrips {
 public:
  HeadStrips(const std::shared_ptr<const AttentionRecord>& record, HeadChoice head, MapValue value);

  Tensor strip(Region region) const;

 private:
  HeadChoice head_;
  std::vector<HeadValues> maps_;
};

}  // namespace fovea
