// Fuses the heads of one layer into one map, row by row. The map is never stored whole.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "fovea/atlas/attention_map.h"
#include "fovea/explain/rollout.h"

namespace fovea {

class FusedLayer {
 public:
  FusedLayer(const std::shared_ptr<const AttentionRecord>& record, HeadFusion fusion);

  int64_t rows() const { return maps_.front().rows(); }
  int64_t cols() const { return maps_.front().cols(); }

  // Calls visit(i, row) for every row in order. visit() may change `row`, which is gone afterwards.
  void for_each_row(const std::function<void(int64_t, std::span<float>)>& visit) const;

 private:
  HeadFusion fusion_;
  std::vector<AttentionMap> maps_;
};

// Which entries of a fused layer are the smallest: all below `value`, and the first `equal` of
// those that equal it.
struct SmallestEntries {
  float value = 0;
  int64_t equal = 0;
};
// The `count` smallest entries, exactly, in two passes over the layer and O(1) memory.
SmallestEntries smallest_entries(const FusedLayer& layer, int64_t count);

}  // namespace fovea
