// A picture in memory: 8-bit RGB, whatever the file held.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace fovea {

struct PictureSize {
  int64_t width = 0;
  int64_t height = 0;
  bool operator==(const PictureSize&) const = default;
};

// Pixels row by row from the top left, three bytes each.
struct Picture {
  int64_t width = 0;
  int64_t height = 0;
  std::vector<uint8_t> bytes;

  Picture() = default;  // no pixels
  // Black. Throws Error{kInvalidArgument} unless both sides are at least 1 and memory suffices.
  Picture(int64_t picture_width, int64_t picture_height);

  PictureSize size() const { return {width, height}; }
  std::array<uint8_t, 3> at(int64_t x, int64_t y) const;
  uint8_t* row(int64_t y) { return bytes.data() + y * width * 3; }
  const uint8_t* row(int64_t y) const { return bytes.data() + y * width * 3; }
};

}  // namespace fovea
