// The heads of one layer fused into one map, row by row; never stored whole.
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

  // Calls visit(i, row) for every row in order; `row` may be changed and is gone afterwards.
  void for_each_row(const std::function<void(int64_t, std::span<float>)>& visit) const;

 private:
  HeadFusion fusion_;
  std::vector<AttentionMap> maps_;
};

// The smallest entries of a fused layer: those below `value`, and the first `equal` that equal it.
struct SmallestEntries {
  float value = 0;
  int64_t equal = 0;
};
// The `count` smallest, exactly, in two passes over the layer and O(1) memory.
SmallestEntries smallest_entries(const FusedLayer& layer, int64_t count);

}  // namespace fovea
