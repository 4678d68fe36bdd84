// Masks as COCO stores them: the lengths of runs down the columns, outside and inside by turns,
// beginning with outside. They are numbers ("uncompressed") or COCO's own text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fovea/base/json.h"
#include "fovea/explain/pictures/pixel_mask.h"

namespace fovea {

struct MaskRle {
  int64_t height = 0;
  int64_t width = 0;
  std::vector<int64_t> counts;  // counts of pixels; their sum is height * width

  bool operator==(const MaskRle&) const = default;
};

MaskRle encode_mask(const PixelMask& mask);
// Writes five bits in each character, from '0' on. From the third number on, it writes the
// difference to the number two before.
std::string counts_to_text(const std::vector<int64_t>& counts);
// {"size": [height, width], "counts": "..."}.
Json to_json(const MaskRle& rle);

}  // namespace fovea
