#include "fovea/render/cells.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/cancel.h"
#include "fovea/figure/picture_tone.h"
#include "fovea/figure/smooth_places.h"
#include "fovea/render/axis_labels.h"

namespace fovea {
namespace {

// More, or smaller, would make slow and large SVG and PDF files.
constexpr int64_t kMostRectangles = 64 * 64;
constexpr double kSmallestRectangle = 8;
constexpr double kCellGap = 0.5;

// Neighbours in a row are one rectangle, so that the hatching runs through.
std::vector<Rect> forbidden_rects(MatrixView<const float> weights, Point at, double cell) {
  std::vector<Rect> rects;
  for (int64_t r = 0; r < weights.rows; ++r) {
    check_cancelled();
    for (int64_t c = 0; c < weights.cols; ++c) {
      if (!std::isnan(weights(r, c))) continue;
      const int64_t first = c;
      while (c + 1 < weights.cols && std::isnan(weights(r, c + 1))) ++c;
      rects.push_back({at.x + static_cast<double>(first) * cell,
                       at.y + static_cast<double>(r) * cell,
                       static_cast<double>(c + 1 - first) * cell, cell});
    }
  }
  return rects;
}

void draw_rectangles(Canvas& canvas, MatrixView<const float> weights, const CellColors& colors,
                     Point at, double cell) {
  canvas.hatch(forbidden_rects(weights, at, cell));
  for (int64_t r = 0; r < weights.rows; ++r) {
    for (int64_t c = 0; c < weights.cols; ++c) {
      if (std::isnan(weights(r, c))) continue;
      canvas.fill({at.x + static_cast<double>(c) * cell, at.y + static_cast<double>(r) * cell,
                   cell - kCellGap, cell - kCellGap},
                  colors.at(weights(r, c), c));
    }
  }
}

// One colour per entry; forbidden ones are transparent.
CellImage color_cells(MatrixView<const float> weights, const CellColors& colors) {
  CellImage image{.width = weights.cols, .height = weights.rows, .pixels = {}};
  image.pixels.reserve(static_cast<size_t>(weights.rows * weights.cols));
  for (int64_t r = 0; r < weights.rows; ++r) {
    check_cancelled();
    for (int64_t c = 0; c < weights.cols; ++c) {
      const float value = weights(r, c);
      image.pixels.push_back(std::isnan(value) ? 0 : opaque_pixel(colors.at(value, c)));
    }
  }
  return image;
}

}  // namespace

namespace {

uint32_t tinted_pixel(const ColorAxis& axis, double place) {
  const Tint tint = tint_of(axis.colors(), place, axis.scale().is_signed());
  return translucent_pixel(tint.color, tint.cover);
}

}  // namespace

CellImage cover_cells(MatrixView<const float> weights, const ColorAxis& axis) {
  CellImage image{.width = weights.cols, .height = weights.rows, .pixels = {}};
  image.pixels.reserve(static_cast<size_t>(weights.rows * weights.cols));
  for (int64_t r = 0; r < weights.rows; ++r) {
    for (int64_t c = 0; c < weights.cols; ++c) {
      const auto value = double{weights(r, c)};
      image.pixels.push_back(std::isnan(value) ? 0 : tinted_pixel(axis, axis.position(value)));
    }
  }
  return image;
}

CellImage smooth_cover(MatrixView<const float> weights, const ColorAxis& axis) {
  constexpr int64_t kLongest = 768;
  constexpr int64_t kMostPerCell = 12;
  const int64_t side = std::max(weights.rows, weights.cols);
  const int64_t per_cell = std::clamp<int64_t>(kLongest / side, 1, kMostPerCell);
  const SmoothPlaces places(weights, axis.scale());
  CellImage image{
      .width = weights.cols * per_cell, .height = weights.rows * per_cell, .pixels = {}};
  image.pixels.reserve(static_cast<size_t>(image.width * image.height));
  for (int64_t y = 0; y < image.height; ++y) {
    check_cancelled();
    for (int64_t x = 0; x < image.width; ++x) {
      const double row = (static_cast<double>(y) + 0.5) / static_cast<double>(per_cell);
      const double col = (static_cast<double>(x) + 0.5) / static_cast<double>(per_cell);
      image.pixels.push_back(tinted_pixel(axis, places.at(row, col)));
    }
  }
  return image;
}

ForbiddenKey forbidden_key(bool forbidden, int64_t rows, int64_t cols) {
  if (!forbidden) return ForbiddenKey::kNone;
  return rows * cols <= kMostRectangles ? ForbiddenKey::kHatch : ForbiddenKey::kPlain;
}

Rgb CellColors::at(float value, int64_t column) const {
  return std::ranges::binary_search(grey, column) ? grey_axis.at(value) : axis.at(value);
}

void draw_cells(Canvas& canvas, MatrixView<const float> weights, const CellColors& colors, Point at,
                double cell) {
  if (cell >= kSmallestRectangle && weights.rows * weights.cols <= kMostRectangles) {
    draw_rectangles(canvas, weights, colors, at, cell);
    return;
  }
  const Rect all{at.x, at.y, static_cast<double>(weights.cols) * cell,
                 static_cast<double>(weights.rows) * cell};
  const ForbiddenKey key = forbidden_key(has_forbidden(weights), weights.rows, weights.cols);
  if (key == ForbiddenKey::kHatch) canvas.hatch({all});
  if (key == ForbiddenKey::kPlain) canvas.fill(all, kPlainGround);
  canvas.picture(CanvasPicture(color_cells(weights, colors)), all);
}

void draw_map_frame(Canvas& canvas, const Rect& map) {
  constexpr Rgb kFrameColor{205, 205, 212};
  canvas.outline({map.x - 0.5, map.y - 0.5, map.width + 0.5, map.height + 0.5},
                 {.color = kFrameColor, .width = 0.5});
}

void draw_choice(Canvas& canvas, const Rect& map, double cell, int64_t chosen, bool column) {
  const double begin = static_cast<double>(chosen) * cell;
  if (cell >= kUprightCell) {
    const Rect place = column ? Rect{map.x + begin, map.y, cell, map.height}
                              : Rect{map.x, map.y + begin, map.width, cell};
    canvas.outline(place, {.color = kWhite, .width = 3, .opacity = 0.85});
    canvas.outline(place, {.color = kAccent, .width = 1.5});
    return;
  }
  const double middle = begin + cell / 2;
  constexpr double kLength = 7;
  constexpr double kHalf = 3.5;
  if (column) {
    const Point tip{map.x + middle, map.y + map.height + 2};
    canvas.polygon({tip, {tip.x - kHalf, tip.y + kLength}, {tip.x + kHalf, tip.y + kLength}},
                   kAccent);
  } else {
    const Point tip{map.x + map.width + 2, map.y + middle};
    canvas.polygon({tip, {tip.x + kLength, tip.y - kHalf}, {tip.x + kLength, tip.y + kHalf}},
                   kAccent);
  }
}

}  // namespace fovea
