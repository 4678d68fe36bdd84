// PNG files. The same picture and text give the same bytes.
#pragma once

#include <filesystem>
#include <string>

#include "fovea/vision/label_mask.h"
#include "fovea/vision/picture.h"

namespace fovea {

// Stored beside the pixels. Empty texts are left out.
struct PngText {
  std::string software = "fovea";
  std::string title;
  std::string description;
  std::string metadata;        // JSON, under the key "fovea"
  double pixels_per_inch = 0;  // 0: not said
  int compression = 9;         // zlib's level
  bool rows_repeat = true;     // as in a heatmap; text and lines are smaller without this
};

// Throws Error{kInvalidArgument} on an empty picture.
std::string encode_png(const Picture& image, const PngText& text = {});
// Throws Error{kIo} and leaves what was at `path` if it cannot be written whole.
void write_png(const std::filesystem::path& path, const Picture& image, const PngText& text = {});

// 8-bit grey whose levels are the numbers of objects, as read_label_mask() reads it.
std::string encode_png(const LabelMask& mask);
void write_png(const std::filesystem::path& path, const LabelMask& mask);

}  // namespace fovea
