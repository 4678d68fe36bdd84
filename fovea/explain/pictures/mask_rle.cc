#include "fovea/explain/pictures/mask_rle.h"

namespace fovea {

MaskRle encode_mask(const PixelMask& mask) {
  MaskRle rle{.height = mask.height, .width = mask.width, .counts = {}};
  bool inside = false;
  int64_t run = 0;
  for (int64_t x = 0; x < mask.width; ++x) {
    for (int64_t y = 0; y < mask.height; ++y) {
      const bool here = mask.pixels[static_cast<size_t>(y * mask.width + x)] != 0;
      if (here != inside) {
        rle.counts.push_back(run);
        run = 0;
        inside = here;
      }
      ++run;
    }
  }
  rle.counts.push_back(run);
  return rle;
}

std::string counts_to_text(const std::vector<int64_t>& counts) {
  std::string text;
  for (size_t i = 0; i < counts.size(); ++i) {
    int64_t rest = counts[i] - (i > 2 ? counts[i - 2] : 0);
    bool more = true;
    while (more) {
      int64_t bits = rest & 0x1f;
      rest >>= 5;
      more = (bits & 0x10) != 0 ? rest != -1 : rest != 0;  // what is left is more than the sign
      if (more) bits |= 0x20;
      text += static_cast<char>(bits + '0');
    }
  }
  return text;
}

Json to_json(const MaskRle& rle) {
  Json json = Json::object();
  Json size = Json::array();
  size.push_back(rle.height);
  size.push_back(rle.width);
  json.set("size", std::move(size));
  json.set("counts", counts_to_text(rle.counts));
  return json;
}

}  // namespace fovea
