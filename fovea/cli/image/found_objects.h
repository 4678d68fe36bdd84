// Objects that a model's attention shows in a picture, as `image` draws and `evaluate` scores them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "fovea/capture/run.h"
#include "fovea/explain/pictures/lost.h"
#include "fovea/explain/pictures/token_cut.h"

namespace fovea {

// Of the keys of one layer, or of the last. Throw as picture_record() does, and
// Error{kInvalidArgument} if the grid has a single patch.
LostObject find_lost(const Run& run, std::optional<int64_t> layer);
TokenCutObject find_token_cut(const Run& run, std::optional<int64_t> layer);

// The fewest patches that hold `share` of what [CLS] (or the pooling head) gives to patches.
struct MassMasks {
  std::vector<GridMask> heads;
  GridMask mean;  // of the mean of heads
};
MassMasks find_mass_masks(const Run& run, std::optional<int64_t> layer, double share);

}  // namespace fovea
