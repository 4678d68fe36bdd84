// Which heads a map shows: one, or the mean or maximum of all.
#pragma once

#include <cstdint>
#include <string_view>

#include "fovea/base/json.h"
#include "fovea/capture/attention_record.h"

namespace fovea {

struct HeadChoice {
  enum class Kind { kAll, kMean, kMax, kOne };
  Kind kind = Kind::kAll;
  int64_t head = 0;  // kOne only

  bool operator==(const HeadChoice&) const = default;
};

// "3", "mean", "max" or "all". Throws Error{kInvalidArgument}.
HeadChoice parse_head(std::string_view text);

// The choice as JSON: a number, "mean", "max" or "all".
Json to_json(const HeadChoice& head);

// The choice for one matrix: "all" becomes the mean. Throws Error{kInvalidArgument} if the record
// has no such head.
HeadChoice single_map(HeadChoice head, const AttentionRecord& record);

}  // namespace fovea
