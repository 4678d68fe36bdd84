// A folder of pictures with what is true of them, as `fovea evaluate` reads it:
//   NAME.png (or jpg, jpeg, webp, ppm)   a picture
//   NAME.mask.png                        pixel = object number, 0 the background
//   NAME.json                            {"objects": [{"id", "label", "box_xyxy": [x0, y0, x1,
//   y1]}]}
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/explain/pictures/picture_score.h"
#include "fovea/vision/label_mask.h"

namespace fovea {

struct TruthFiles {
  std::string name;  // the picture's file name
  std::filesystem::path picture;
  std::filesystem::path mask;     // empty: none
  std::filesystem::path objects;  // empty: none
};

// The pictures of a folder, by name, for which `has_truth`. Those without are told on stderr in one
// line that says what is `wanted`: "a mask (NAME.mask.png)". Throws Error{kNotFound} if none is
// left.
std::vector<TruthFiles> pictures_with(const std::filesystem::path& folder, std::string_view wanted,
                                      const std::function<bool(const TruthFiles&)>& has_truth);

struct TrueObject {
  int64_t id = 0;
  std::string label;  // empty: not said
  PictureBox box;     // in pixels of the upright picture
};

// Throws Error{kBadFile} unless it is as large as the picture.
LabelMask read_true_mask(const TruthFiles& files, PictureSize picture);
// Out of NAME.json, or the boxes around the objects of the mask where there is no such file.
std::vector<TrueObject> read_true_objects(const TruthFiles& files, PictureSize picture);

}  // namespace fovea
