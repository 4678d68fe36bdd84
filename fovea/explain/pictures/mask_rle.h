// Masks as COCO stores them: the lengths of runs down the columns, outside and inside in turn,
// beginning with outside; as numbers ("uncompressed") or in its own text form.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
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
// Throws Error{kBadFile} unless sides are 1 to 65536, no count is negative, and their sum is the
// number of pixels.
PixelMask decode_mask(const MaskRle& rle);

// Five bits in each character from '0' on, from the third number on the difference to the last but
// one.
std::string counts_to_text(const std::vector<int64_t>& counts);
// Throws Error{kBadFile} on another character, an unfinished number, or one that is no count.
std::vector<int64_t> counts_from_text(std::string_view text);

// {"size": [height, width], "counts": "..."}; read with counts as text or as numbers. Throws
// Error{kBadFile}; `where` names the file.
Json to_json(const MaskRle& rle);
MaskRle mask_from_json(const Json& json, std::string_view where);

}  // namespace fovea
