#include "fovea/explain/pictures/mask_rle.h"

#include <fmt/format.h>

#include "fovea/base/error.h"

namespace fovea {
namespace {

constexpr int64_t kLongestSide = 65536;
constexpr int64_t kMostPixels = int64_t{1} << 32;

void check(const MaskRle& rle) {
  if (rle.height < 1 || rle.width < 1 || rle.height > kLongestSide || rle.width > kLongestSide) {
    fail(ErrorKind::kBadFile, "a mask has {} x {} pixels but a side is 1 to {}", rle.width,
         rle.height, kLongestSide);
  }
  const int64_t pixels = rle.height * rle.width;
  int64_t sum = 0;
  for (const int64_t count : rle.counts) {
    if (count < 0 || count > pixels - sum) {
      fail(ErrorKind::kBadFile, "a run of {} pixels does not fit into a mask of {} x {}", count,
           rle.width, rle.height);
    }
    sum += count;
  }
  if (sum != pixels) {
    fail(ErrorKind::kBadFile, "the runs of a mask make up {} pixels but it has {} x {}", sum,
         rle.width, rle.height);
  }
}

}  // namespace

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

PixelMask decode_mask(const MaskRle& rle) {
  check(rle);
  PixelMask mask(rle.width, rle.height);
  int64_t at = 0;
  uint8_t inside = 0;
  for (const int64_t count : rle.counts) {
    for (const int64_t end = at + count; at < end; ++at) {
      mask.pixels[static_cast<size_t>(at % rle.height * rle.width + at / rle.height)] = inside;
    }
    inside = inside == 0 ? 1 : 0;
  }
  return mask;
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

std::vector<int64_t> counts_from_text(std::string_view text) {
  std::vector<int64_t> counts;
  size_t at = 0;
  while (at < text.size()) {
    int64_t value = 0;
    int bits = 0;
    int64_t piece = 0x20;
    for (; (piece & 0x20) != 0; ++at, bits += 5) {
      if (at == text.size()) {
        fail(ErrorKind::kBadFile, "the runs of a mask end within a number after {} characters", at);
      }
      piece = int64_t{static_cast<unsigned char>(text[at])} - '0';
      if (piece < 0 || piece > 0x3f || bits > 40) {
        fail(ErrorKind::kBadFile, "character {} of a mask's runs is no part of a number", at);
      }
      value |= (piece & 0x1f) << bits;
    }
    if ((piece & 0x10) != 0) value -= int64_t{1} << bits;  // a negative difference
    if (counts.size() > 2) value += counts[counts.size() - 2];
    if (value < 0 || value > kMostPixels) {
      fail(ErrorKind::kBadFile, "run {} of a mask has {} pixels; a run has 0 to {}", counts.size(),
           value, kMostPixels);
    }
    counts.push_back(value);
  }
  return counts;
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

MaskRle mask_from_json(const Json& json, std::string_view where) {
  const std::string size_name = fmt::format("{}: size", where);
  const std::string counts_name = fmt::format("{}: counts", where);
  const auto& size = json.at("size", where).as_array(size_name);
  if (size.size() != 2) {
    fail(ErrorKind::kBadFile, "{} should be [height, width] but has {} numbers", size_name,
         size.size());
  }
  MaskRle rle{.height = size[0].as_int(size_name), .width = size[1].as_int(size_name)};
  const Json& counts = json.at("counts", where);
  if (counts.is_string()) {
    rle.counts = counts_from_text(counts.as_string(counts_name));
  } else {
    for (const Json& count : counts.as_array(counts_name)) {
      rle.counts.push_back(count.as_int(counts_name));
    }
  }
  check(rle);
  return rle;
}

}  // namespace fovea
