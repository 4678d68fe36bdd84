// Where a model's patches lie in the picture that was given.
#pragma once

#include <optional>

#include "fovea/vision/picture.h"

namespace fovea {

// How a picture became a model's input. It was resized to `resized`; then a window of size `input`
// was cut out, whose top left corner is (left, top) in the resized picture. A negative corner means
// padding: whatever lies outside of the resized picture is padding.
struct PictureWindow {
  PictureSize original;  // upright
  PictureSize resized;
  PictureSize input;
  int64_t left = 0;
  int64_t top = 0;

  // Between points of the model's input and of the original picture.
  PicturePoint to_original(PicturePoint input_point) const;
  PicturePoint to_input(PicturePoint original_point) const;
};

// Cells of `stride` pixels of the model's input, row by row from the top left.
class PatchGrid {
 public:
  // The patches of a vision transformer: what is left over at the right and the bottom is not seen.
  // Throws Error{kInvalidArgument} if not even one fits.
  static PatchGrid of_patches(const PictureWindow& window, int64_t patch_size);
  // The feature map of a convolutional trunk: the last cells may reach over the edge.
  static PatchGrid of_features(const PictureWindow& window, int64_t stride);

  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  int64_t patches() const { return rows_ * columns_; }
  const PictureWindow& window() const { return window_; }

  // The part of the original picture that the patch shows; empty where it shows only padding.
  // Throws Error{kInvalidArgument} on a patch that is not there.
  PictureRectangle rectangle(int64_t patch) const;
  // The rectangle under the whole grid, in pixels of the original. It leaves the original if there
  // is padding.
  PictureRectangle extent() const;
  // How many columns (x) and rows (y) of cells lie over the original, counted from the first. They
  // are fractions if the last cells reach over its edge.
  PicturePoint cover() const;
  // The size of the original, enlarged by whole pixels to fill all cells that lie over it at least
  // in part.
  PictureSize filled_size() const;
  // The patch that shows the centre of pixel (x, y) of the original; none where the crop left it
  // out or (x, y) is outside of the picture.
  std::optional<int64_t> patch_of_pixel(int64_t x, int64_t y) const;

 private:
  PatchGrid(const PictureWindow& window, int64_t stride, int64_t rows, int64_t columns);

  PictureWindow window_;
  int64_t stride_;
  int64_t rows_;
  int64_t columns_;
};

}  // namespace fovea
