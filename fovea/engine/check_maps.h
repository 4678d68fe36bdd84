// Checks that fovea's maps are what the model itself computed.
#pragma once

#include <cstdint>

#include "fovea/base/json.h"
#include "fovea/engine/engine.h"

namespace fovea {

struct MapCheck {
  int64_t maps = 0;
  int64_t tokens = 0;  // columns of the first map
  // The largest |sum of a row - 1|, without rows that see nothing. In panoptic.0, where all heads
  // share one softmax, a row's sum is over all heads.
  double row_sum_error = 0;
  double output_error = 0;  // largest |A V - output| / largest |output| of the site
  bool rounded = false;     // attention multiplied 16-bit integers

  double output_tolerance() const;
  bool passed() const;
};

// An input to check with: a sentence, some ids if the model has no tokenizer, or some pixels.
EncodedInput check_input(const Engine& engine);
// Computes every map densely and multiplies in double.
MapCheck check_maps(const Engine& engine, const EncodedInput& input);
// Throws Error{kInternal} with the numbers unless it passed.
void require_passed(const MapCheck& check);
Json to_json(const MapCheck& check);

}  // namespace fovea
