// A picture of numbers: which object each pixel belongs to.
#pragma once

#include <filesystem>
#include <vector>

#include "fovea/vision/decode.h"

namespace fovea {

// One byte per pixel, row by row: an object's number, or 0 for the background.
struct LabelMask {
  PictureSize size;
  std::vector<uint8_t> labels;

  LabelMask() = default;
  explicit LabelMask(PictureSize picture)
      : size(picture), labels(static_cast<size_t>(picture.width * picture.height)) {}

  // The numbers that are there, rising, without 0.
  std::vector<uint8_t> objects() const;
};

// A PNG whose pixels are the numbers: grey, or indices of a palette as VOC has them. Throws as
// read_picture does, and Error{kBadFile} on another format, colours or 16 bits.
LabelMask read_label_mask(const std::filesystem::path& path, const PictureLimits& limits = {});

}  // namespace fovea
