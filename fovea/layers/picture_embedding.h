// Turns a picture into positions of a transformer: one linear map for all patches, then learned
// positions are added and tokens are put in front.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "fovea/kernels/interpolate.h"
#include "fovea/layers/layer_source.h"

namespace fovea {

// How a model cuts pictures.
struct PatchSizes {
  int64_t channels = 3;
  int64_t patch_height = 0, patch_width = 0;
  int64_t image_height = 0, image_width = 0;  // as in training

  // Reads num_channels, patch_size and image_size; the last two are numbers or pairs. Throws
  // Error{kBadFile} for sizes that no model has or that leave no patch.
  static PatchSizes of(const Config& config);

  // The model does not see pixels that are left over at the right and the bottom.
  int64_t rows(int64_t height) const { return height / patch_height; }
  int64_t cols(int64_t width) const { return width / patch_width; }
  int64_t trained_patches() const { return rows(image_height) * cols(image_width); }
  int64_t patch_values() const { return channels * patch_height * patch_width; }
};

// The learned positions of the trained grid, resized for other grids.
class PatchPositions {
 public:
  // `table` is f32 [trained patches, width].
  PatchPositions(const PatchSizes& sizes, Tensor table, BicubicFilter filter)
      : sizes_(sizes), table_(std::move(table)), filter_(filter) {}

  // [rows * cols, width]
  Tensor operator()(int64_t rows, int64_t cols) const;

 private:
  PatchSizes sizes_;
  Tensor table_;
  BicubicFilter filter_;
};

class PictureEmbedding {
 public:
  // The linear map is a convolution's "weight" [width, channels, patch height, patch width] and, if
  // there is one by design, "bias" [width]. `front` is f32 [tokens, width], positions included, or
  // empty.
  PictureEmbedding(const LayerSource& projection, const PatchSizes& sizes, int64_t width, bool bias,
                   Tensor front);
  void set_positions(PatchPositions positions) { positions_ = std::move(positions); }

  const PatchSizes& sizes() const { return sizes_; }
  // Makes [tokens in front + patches, width] from pixels [channels, height, width].
  Value operator()(const Value& pixels) const;

 private:
  PatchSizes sizes_;
  ops::Linear projection_;
  Tensor front_;
  std::optional<PatchPositions> positions_;
};

// Cuts f32 [channels, height, width] into patches, row by row: [rows * cols, channels * patch
// height * patch width].
Value unfold_patches(const Value& pixels, const PatchSizes& sizes);

// The two parts of a learned table [1, front + patches, width] or [front + patches, width].
struct PositionTable {
  Tensor front;    // f32 [front, width]
  Tensor patches;  // f32 [patches, width]
};
PositionTable load_positions(const LayerSource& source, std::string_view name, const Shape& shape,
                             int64_t front);

// Learned tokens [1, count, width], stacked as f32. A count of 0 skips them.
struct FrontTokens {
  std::string_view name;
  int64_t count = 1;
};
Tensor load_front_tokens(const LayerSource& source, std::initializer_list<FrontTokens> tokens,
                         int64_t width);

// The names of register tokens: "[REG 1]", "[REG 2]", ...
std::vector<std::string> register_names(int64_t count);
// Reads num_register_tokens. Throws Error{kBadFile} for more than models have.
int64_t register_count(const Config& config, int64_t otherwise);

}  // namespace fovea
