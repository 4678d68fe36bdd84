// Columns that take weight whatever the row says: attention sinks, and special tokens. Figures show
// them in grey, apart from the colours, or leave them out; their captions say how much they take.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fovea/figure/view.h"

namespace fovea {

// A column is a sink of a map where its mean weight over the rows that may see it is so large and
// at least half of the rows may see it.
inline constexpr double kSinkMean = 0.1;
inline constexpr size_t kMostSinks = 4;

struct GreyColumn {
  int64_t column = 0;
  bool special = false;
  std::string name;  // "token 0", "[CLS]"
  std::string text;  // of a sink: what stands there
  double share = 0;  // of all weight
};

struct GreyColumns {
  std::vector<GreyColumn> apart;
  std::vector<GreyColumn> hidden;

  double hidden_share() const;
  double apart_share() const;
};

// By rising column. `sums`: what each column receives from all rows.
std::vector<int64_t> sink_columns(const AttentionRecord& record, std::span<const double> sums);

// The sinks and special tokens of a map, at most `most` of them apart, those that take most.
GreyColumns grey_columns(const AttentionRecord& record, const Axis& cols,
                         std::span<const double> sums, const ViewChoice& choice, size_t most);

std::vector<int64_t> columns_of(std::span<const GreyColumn> columns);
// "token 0 “␣×19” with 43 % of all weight, [SEP] with 1 % of all weight".
std::string grey_text(std::span<const GreyColumn> columns);
// "43 %".
std::string percent_text(double share);

}  // namespace fovea
