// What a map would hold if every row looked evenly at all it may see.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fovea/capture/attention_record.h"
#include "fovea/capture/words.h"

namespace fovea {

// How many keys of a range a row may see. The mask must outlive it.
class MaskCounts {
 public:
  // Columns of `left_out` are counted only by all().
  MaskCounts(const Mask& mask, int64_t cols, std::span<const int64_t> left_out = {});

  int64_t within(int64_t row, int64_t begin, int64_t end) const;
  int64_t all(int64_t row) const;

 private:
  int64_t allowed(int64_t row, int64_t begin, int64_t end) const;

  const Mask& mask_;
  int64_t cols_;
  std::vector<int64_t> left_out_;
  std::vector<int64_t> valid_before_;
};

// even(R, C) = mean over i in R of (allowed in C) / allowed(i), f32; 0 where nothing is allowed.
Tensor even_shares(const AttentionRecord& record, const std::vector<PositionGroup>& rows,
                   const std::vector<PositionGroup>& cols, std::span<const int64_t> left_out = {});

}  // namespace fovea
