#include "fovea/vision/patch_grid.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"

namespace fovea {
namespace {

double ratio(int64_t a, int64_t b) {
  return static_cast<double>(a) / static_cast<double>(b);
}

}  // namespace

PicturePoint PictureWindow::to_original(PicturePoint input_point) const {
  return {(input_point.x + static_cast<double>(left)) * ratio(original.width, resized.width),
          (input_point.y + static_cast<double>(top)) * ratio(original.height, resized.height)};
}

PicturePoint PictureWindow::to_input(PicturePoint original_point) const {
  return {original_point.x * ratio(resized.width, original.width) - static_cast<double>(left),
          original_point.y * ratio(resized.height, original.height) - static_cast<double>(top)};
}

PatchGrid::PatchGrid(const PictureWindow& window, int64_t stride, int64_t rows, int64_t columns)
    : window_(window), stride_(stride), rows_(rows), columns_(columns) {
  if (rows_ < 1 || columns_ < 1) {
    fail(ErrorKind::kInvalidArgument, Field{"size"},
         "a picture of {} x {} pixels has no whole patch of {} x {}; give a larger one",
         window.input.width, window.input.height, stride, stride);
  }
}

PatchGrid PatchGrid::of_patches(const PictureWindow& window, int64_t patch_size) {
  if (patch_size < 1) {
    fail(ErrorKind::kInvalidArgument, "a patch of {} pixels cannot be; 1 is the least", patch_size);
  }
  return {window, patch_size, window.input.height / patch_size, window.input.width / patch_size};
}

PatchGrid PatchGrid::of_features(const PictureWindow& window, int64_t stride) {
  if (stride < 1) {
    fail(ErrorKind::kInvalidArgument, "a stride of {} pixels cannot be; 1 is the least", stride);
  }
  return {window, stride, (window.input.height + stride - 1) / stride,
          (window.input.width + stride - 1) / stride};
}

PictureRectangle PatchGrid::rectangle(int64_t patch) const {
  if (patch < 0 || patch >= patches()) {
    fail(ErrorKind::kInvalidArgument, "patch {} is not there: {} x {} patches are 0 to {}", patch,
         columns_, rows_, patches() - 1);
  }
  const int64_t column = patch % columns_;
  const int64_t row = patch / columns_;
  const auto left = static_cast<double>(column * stride_);
  const auto top = static_cast<double>(row * stride_);
  const auto side = static_cast<double>(stride_);
  const auto width = static_cast<double>(window_.input.width);
  const auto height = static_cast<double>(window_.input.height);
  const PicturePoint from = window_.to_original({left, top});
  const PicturePoint to =
      window_.to_original({std::min(left + side, width), std::min(top + side, height)});
  const auto right_end = static_cast<double>(window_.original.width);
  const auto bottom_end = static_cast<double>(window_.original.height);
  return {std::clamp(from.x, 0.0, right_end), std::clamp(from.y, 0.0, bottom_end),
          std::clamp(to.x, 0.0, right_end), std::clamp(to.y, 0.0, bottom_end)};
}

PictureRectangle PatchGrid::extent() const {
  const PicturePoint from = window_.to_original({0, 0});
  const PicturePoint to = window_.to_original(
      {static_cast<double>(columns_ * stride_), static_cast<double>(rows_ * stride_)});
  return {from.x, from.y, to.x, to.y};
}

PicturePoint PatchGrid::cover() const {
  const PicturePoint end = window_.to_input(
      {static_cast<double>(window_.original.width), static_cast<double>(window_.original.height)});
  // A cell that lies within the picture tells how large all of them are.
  const PictureRectangle first = rectangle(0);
  const PicturePoint cell = window_.to_input({first.right, first.bottom});
  return {std::clamp(end.x / cell.x, 0.5, static_cast<double>(columns_)),
          std::clamp(end.y / cell.y, 0.5, static_cast<double>(rows_))};
}

PictureSize PatchGrid::filled_size() const {
  const PicturePoint covered = cover();
  const auto reach = [](int64_t pixels, int64_t cells, double over_picture) {
    return std::llround(static_cast<double>(pixels) * static_cast<double>(cells) / over_picture);
  };
  return {reach(window_.original.width, columns_, covered.x),
          reach(window_.original.height, rows_, covered.y)};
}

std::optional<int64_t> PatchGrid::patch_of_pixel(int64_t x, int64_t y) const {
  if (x < 0 || y < 0 || x >= window_.original.width || y >= window_.original.height) {
    return std::nullopt;
  }
  const PicturePoint point =
      window_.to_input({static_cast<double>(x) + 0.5, static_cast<double>(y) + 0.5});
  if (point.x < 0 || point.y < 0 || point.x >= static_cast<double>(window_.input.width) ||
      point.y >= static_cast<double>(window_.input.height)) {
    return std::nullopt;
  }
  const auto column = static_cast<int64_t>(point.x) / stride_;
  const auto row = static_cast<int64_t>(point.y) / stride_;
  if (column >= columns_ || row >= rows_) return std::nullopt;
  return row * columns_ + column;
}

}  // namespace fovea
