// Turns a picture into a model's input: resizes, crops, rescales, normalises and pads it as the
// checkpoint says.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "fovea/tensor/tensor.h"
#include "fovea/vision/patch_grid.h"
#include "fovea/vision/picture.h"
#include "fovea/vision/preprocessor_config.h"

namespace fovea {

struct PreparedPicture {
  Tensor pixel_values;               // f32 [3, height, width]
  std::optional<Tensor> pixel_mask;  // i64 [height, width], 1 where there is picture (DETR)
  PictureWindow window;
};

class Preprocessor {
 public:
  explicit Preprocessor(PreprocessorConfig config) : config_(std::move(config)) {}
  // Opens processor_config.json or preprocessor_config.json of a checkpoint's folder; `model_type`
  // comes from its config.json. Throws Error{kNotFound} if neither file is there, and as
  // parse_preprocessor_config does.
  static Preprocessor open(const std::filesystem::path& folder, std::string_view model_type);

  const PreprocessorConfig& config() const { return config_; }
  // The whole picture at exactly this size: no crop and no padding. For models that take any.
  Preprocessor with_size(PictureSize size) const;

  // Where the model's input will lie in a picture of this size. Throws Error{kInvalidArgument} if
  // the picture is too thin, or becomes larger than 2^26 pixels.
  PictureWindow window(PictureSize original) const;
  // Throws as window().
  PreparedPicture prepare(const Picture& picture) const;

 private:
  PreprocessorConfig config_;
};

}  // namespace fovea
