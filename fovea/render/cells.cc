#include "fovea/render/cells.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/cancel.h"
#include "fovea/figure/picture_tone.h"
#include "fovea/render/axis_labels.h"

namespace fovea {
namespace {

// More, or smaller, would make slow and large SVG and PDF files.
constexpr int64_t kMostRectangles = 64 * 64;
constexpr double kSmallestRectangle = 8;
constexpr double kSmallestWithGaps = 32;  // on smaller squares a grid is all one sees
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

void draw_rectangles(Canvas& canvas, MatrixView<const float> weights, const ColorAxis& axis,
                     Point at, double cell) {
  canvas.hatch(forbidden_rects(weights, at, cell));
  const double gap = cell >= kSmallestWithGaps ? kCellGap : 0;
  // Without gaps each square reaches a little under the next, or viewers show seams.
  const double reach = gap > 0 ? 0 : 0.25;
  for (int64_t r = 0; r < weights.rows; ++r) {
    for (int64_t c = 0; c < weights.cols; ++c) {
      if (std::isnan(weights(r, c))) continue;
      const bool last = c + 1 == weights.cols || std::isnan(weights(r, c + 1));
      const bool lowest = r + 1 == weights.rows || std::isnan(weights(r + 1, c));
      canvas.fill({at.x + static_cast<double>(c) * cell, at.y + static_cast<double>(r) * cell,
                   cell - gap + (last ? 0 : reach), cell - gap + (lowest ? 0 : reach)},
                  axis.at(weights(r, c)));
    }
  }
}

// One colour per entry; forbidden ones are transparent.
CellImage color_cells(MatrixView<const float> weights, const ColorAxis& axis) {
  CellImage image{.width = weights.cols, .height = weights.rows, .pixels = {}};
  image.pixels.reserve(static_cast<size_t>(weights.rows * weights.cols));
  for (int64_t r = 0; r < weights.rows; ++r) {
    check_cancelled();
    for (int64_t c = 0; c < weights.cols; ++c) {
      const float value = weights(r, c);
      image.pixels.push_back(std::isnan(value) ? 0 : opaque_pixel(axis.at(value)));
    }
  }
  return image;
}

}  // namespace

CellImage cover_cells(MatrixView<const float> weights, const ColorAxis& axis, double opacity) {
  CellImage image{.width = weights.cols, .height = weights.rows, .pixels = {}};
  image.pixels.reserve(static_cast<size_t>(weights.rows * weights.cols));
  for (int64_t r = 0; r < weights.rows; ++r) {
    for (int64_t c = 0; c < weights.cols; ++c) {
      const float value = weights(r, c);
      const Tint tint = tint_of(axis.colors(), axis.position(value), opacity);
      image.pixels.push_back(std::isnan(value) ? translucent_pixel({0, 0, 0}, kHiddenCover)
                                               : translucent_pixel(tint.color, tint.cover));
    }
  }
  return image;
}

ForbiddenKey forbidden_key(bool forbidden, int64_t rows, int64_t cols) {
  if (!forbidden) return ForbiddenKey::kNone;
  return rows * cols <= kMostRectangles ? ForbiddenKey::kHatch : ForbiddenKey::kPlain;
}

void draw_cells(Canvas& canvas, MatrixView<const float> weights, const ColorAxis& axis, Point at,
                double cell) {
  if (cell >= kSmallestRectangle && weights.rows * weights.cols <= kMostRectangles) {
    draw_rectangles(canvas, weights, axis, at, cell);
    return;
  }
  const Rect all{at.x, at.y, static_cast<double>(weights.cols) * cell,
                 static_cast<double>(weights.rows) * cell};
  const ForbiddenKey key = forbidden_key(has_forbidden(weights), weights.rows, weights.cols);
  if (key == ForbiddenKey::kHatch) canvas.hatch({all});
  if (key == ForbiddenKey::kPlain) canvas.fill(all, kPlainGround);
  canvas.picture(CanvasPicture(color_cells(weights, axis)), all);
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
