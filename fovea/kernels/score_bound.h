// An upper bound on the scores of a row with a block of keys, from the block's centre and radius:
//
//   q . k = q . centre + q . (k - centre) <= q . centre + |q| * radius
//
// Where even the bound is far below the row's LSE, every weight of the block is 0 in f32 and need
// not be computed.
#pragma once

#include <cstdint>
#include <vector>

#include "fovea/kernels/head_rule.h"

namespace fovea {

class ScoreBound {
 public:
  static constexpr int64_t kBlockKeys = 256;

  // `keys` are the panels of the rule's columns. The rule must outlive the object.
  ScoreBound(const HeadRule& head, const Panels& keys);

  // No score of row `row` with the keys of block `block`, [256 * block, 256 * (block + 1)) from the
  // first column on, is larger, rounding included. `query` is already times the scale; `norm` is
  // its length. Infinite where the bias has no simple bound (position tables).
  float of(const float* query, float norm, int64_t row, int64_t block) const;

 private:
  float largest_bias(int64_t row, int64_t block) const;

  const HeadRule* head_;
  std::vector<float> centres_;  // [blocks, depth]
  std::vector<float> radii_;
  std::vector<float> lengths_;  // |centre| + radius, which no key's length exceeds
  float table_bias_ = 0;        // the largest entry of a bias that is a table
};

}  // namespace fovea
