// Which heads are shown: all, some, one, or the mean, maximum or minimum of all in one map.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "fovea/base/json.h"
#include "fovea/capture/attention_record.h"

namespace fovea {

struct HeadChoice {
  // The mean, the largest and the smallest are taken cell by cell.
  enum class Kind { kAll, kMean, kMax, kMin, kOne, kSome };
  Kind kind = Kind::kAll;
  int64_t head = 0;                // kOne only
  std::vector<int64_t> some = {};  // kSome only: a map each, in this order

  bool operator==(const HeadChoice&) const = default;
};

// "3", "mean", "max", "min" or "all". Throws Error{kInvalidArgument}.
HeadChoice parse_head(std::string_view text);

// The choice as JSON: a number, a list of them, "mean", "max", "min" or "all".
Json to_json(const HeadChoice& head);

// The choice for one matrix: "all" becomes the mean. Throws Error{kInvalidArgument} if the record
// has no such head, and for several heads.
HeadChoice single_map(HeadChoice head, const AttentionRecord& record);
// The choice for several maps: one for each head that is meant, or the one map of single_map().
std::vector<HeadChoice> maps_meant(const HeadChoice& head, const AttentionRecord& record);

}  // namespace fovea
