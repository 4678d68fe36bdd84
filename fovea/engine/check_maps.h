// Whether the maps of a model are what the model itself computed.
#pragma once

#include <cstdint>

#include "fovea/base/json.h"
#include "fovea/engine/engine.h"

namespace fovea {

struct MapCheck {
  int64_t maps = 0;
  int64_t tokens = 0;  // positions that the first of them attends to
  // Largest |sum of a row - 1|; rows that see nothing are left out. Of panoptic.0, whose heads
  // share one softmax, the sum of a row over all heads.
  double row_sum_error = 0;
  double output_error = 0;  // largest |A V - output|, over the largest output of the site
  bool rounded = false;     // whether products of attention were of 16-bit integers

  double output_tolerance() const;
  bool passed() const;
};

// A sentence in the model's own tokens, or some ids where there is no tokenizer; some pixels for
// models of pictures.
EncodedInput check_input(const Engine& engine);
// Computes every map densely and multiplies in double.
MapCheck check_maps(const Engine& engine, const EncodedInput& input);
// Throws Error{kInternal} with the numbers unless it passed.
void require_passed(const MapCheck& check);
Json to_json(const MapCheck& check);

}  // namespace fovea
