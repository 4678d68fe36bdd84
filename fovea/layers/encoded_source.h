// What an encoder made from the source, for its decoder.
#pragma once

#include <cstdint>
#include <vector>

#include "fovea/ops/tape.h"

namespace fovea {

struct EncodedSource {
  Value states;                         // [positions, width]
  std::vector<int64_t> attention_mask;  // 0 for padding; empty: all 1
};

}  // namespace fovea
