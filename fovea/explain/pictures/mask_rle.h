// Masks as COCO stores them: the lengths of runs down the columns, outside and inside in turn,
// beginning with outside; as numbers ("uncompressed") or in its own text form.
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
  std::vector<int64_t> counts;  // of pixels; their sum is height * width

  bool operator==(const MaskRle&) const = default;
};

MaskRle encode_mask(const PixelMask& mask);
// Five bits in each character from '0' on, from the third number on the difference to the last but
// one.
std::string counts_to_text(const std::vector<int64_t>& counts);
// {"size": [height, width], "counts": "..."}.
Json to_json(const MaskRle& rle);

}  // namespace fovea
