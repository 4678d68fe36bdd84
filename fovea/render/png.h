// PNG files. The same picture and text give the same bytes.
#pragma once

#include <filesystem>
#include <string>

#include "fovea/render/heatmap.h"

namespace fovea {

// Stored in the file as text. Empty ones are left out.
struct PngText {
  std::string software = "fovea";
  std::string title;
  std::string description;
};

// Throws Error{kInvalidArgument} on an empty picture.
std::string encode_png(const RgbImage& image, const PngText& text = {});
// Throws Error{kIo} and leaves what was at `path` if it cannot be written whole.
void write_png(const std::filesystem::path& path, const RgbImage& image, const PngText& text = {});

}  // namespace fovea
