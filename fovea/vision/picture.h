// A picture in memory: 8-bit RGB, whatever the file held.
#pragma once

#include <cstdint>
#include <vector>

namespace fovea {

struct PictureSize {
  int64_t width = 0;
  int64_t height = 0;
  bool operator==(const PictureSize&) const = default;
};

struct PicturePoint {
  double x = 0;
  double y = 0;
  bool operator==(const PicturePoint&) const = default;
};

// Left and top are inside, right and bottom are not; fractions of a pixel are meant.
struct PictureRectangle {
  double left = 0;
  double top = 0;
  double right = 0;
  double bottom = 0;
  bool empty() const { return right <= left || bottom <= top; }
  bool operator==(const PictureRectangle&) const = default;
};

struct Rgb {
  uint8_t red = 0;
  uint8_t green = 0;
  uint8_t blue = 0;
  bool operator==(const Rgb&) const = default;
};

// Pixels row by row from the top left, three bytes each.
struct Picture {
  int64_t width = 0;
  int64_t height = 0;
  std::vector<uint8_t> bytes;

  Picture() = default;  // no pixels
  // Throws Error{kInvalidArgument} unless both sides are at least 1 and memory suffices.
  Picture(int64_t picture_width, int64_t picture_height, Rgb fill = {});

  PictureSize size() const { return {width, height}; }
  Rgb at(int64_t x, int64_t y) const;
  void set(int64_t x, int64_t y, Rgb color);
  uint8_t* row(int64_t y) { return bytes.data() + y * width * 3; }
  const uint8_t* row(int64_t y) const { return bytes.data() + y * width * 3; }
};

}  // namespace fovea
