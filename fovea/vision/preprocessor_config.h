// What a checkpoint's preprocessor_config.json says, with the defaults that transformers 5 has for
// each image processor class.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "fovea/base/json.h"
#include "fovea/vision/resize.h"

namespace fovea {

// `size`: one of {height, width}, {shortest_edge}, {shortest_edge, longest_edge} and
// {max_height, max_width}; a number that is not there is 0.
struct ResizeTarget {
  int64_t width = 0;
  int64_t height = 0;
  int64_t shortest_edge = 0;
  int64_t longest_edge = 0;
  int64_t max_width = 0;
  int64_t max_height = 0;

  // With the integer rules of transformers. A side can come out as 0 for a very thin picture.
  PictureSize of(PictureSize original) const;
};

struct PreprocessorConfig {
  std::string class_name;                // without Fast or Pil
  ResizeRule rule = ResizeRule::kTorch;  // transformers 5 takes torch unless a class ends in Pil
  bool do_resize = true;
  ResizeTarget size;
  ResizeFilter filter = ResizeFilter::kBilinear;
  bool resizes_floats = false;  // rescales first and does not round (DINOv3)
  bool do_center_crop = false;
  PictureSize crop_size;
  bool do_rescale = true;
  double rescale_factor = 1.0 / 255;
  bool do_normalize = true;
  std::array<double, 3> mean{};
  std::array<double, 3> std{};
  std::optional<PictureSize> pad_size;  // filled up at the right and the bottom, with zeros
  bool gives_mask = false;              // pixel_mask beside pixel_values
};

// `json` is a preprocessor_config.json, or a processor_config.json with an "image_processor".
// Where no class is named, `model_type` of config.json decides. Throws Error{kBadFile} naming
// `source` and the member, and Error{kUnsupported} on a class or a size that fovea does not know.
PreprocessorConfig parse_preprocessor_config(const Json& json, std::string_view source,
                                             std::string_view model_type = {});

}  // namespace fovea
