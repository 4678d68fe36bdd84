// A folder of pictures with what is true of them, as `fovea evaluate` reads it:
//   NAME.png (or jpg, jpeg, webp, ppm)   a picture
//   NAME.mask.png                        pixel = object number, 0 the background
//   NAME.json                            {"objects": [{"id", "label", "box_xyxy": [x0, y0, x1,
//   y1]}]}
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "fovea/ask/many/inputs.h"
#include "fovea/vision/picture.h"

namespace fovea {

// What a kind of evaluation needs beside each picture, as people are told: "a mask
// (NAME.mask.png)".
struct TruthWanted {
  std::string_view told;
  bool mask = false;
  bool objects = false;
  bool either = false;  // one of both is enough; objects are taken where there are both
};

// The pictures of a folder, by name, that have it. Those without are told on stderr in one line.
// Throws Error{kNotFound} if none is left.
ManyInputs pictures_with_truth(const std::filesystem::path& folder, const TruthWanted& wanted,
                               std::optional<PictureSize> size);

}  // namespace fovea
