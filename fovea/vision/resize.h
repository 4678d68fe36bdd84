// Resizes pictures, byte for byte as Pillow and as torch do it.
#pragma once

#include <vector>

#include "fovea/vision/picture.h"

namespace fovea {

// The numbers are those of Pillow's resampling codes, which `resample` in a
// preprocessor_config.json uses.
enum class ResizeFilter {
  kNearest = 0,
  kLanczos = 1,
  kBilinear = 2,
  kBicubic = 3,
  kBox = 4,
  kHamming = 5
};

// Both filter along one axis, then along the other, in fixed point, rounding to bytes between; all
// filters but nearest are stretched where a picture shrinks.
enum class ResizeRule {
  kPillow,  // Image.resize of Pillow 13: 22 binary places
  kTorch,   // torchvision's resize of a uint8 tensor with antialias: weights of 16 bits
};

// Needs four times the memory of the result. Throws Error{kInvalidArgument} if a side of `size` is
// below 1.
Picture resize(const Picture& picture, PictureSize size, ResizeFilter filter, ResizeRule rule);

// Three floats a pixel, laid out as a Picture's bytes.
struct FloatPicture {
  int64_t width = 0;
  int64_t height = 0;
  std::vector<float> values;
};

// As torch's interpolate with antialias on a float tensor: nothing is rounded or clipped. Values
// are 0 to 255 as in `picture`, and a little outside where a filter overshoots.
FloatPicture resize_to_floats(const Picture& picture, PictureSize size, ResizeFilter filter);

}  // namespace fovea
