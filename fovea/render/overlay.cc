// One colour per patch: what lies between patches was never computed.
#include "fovea/render/overlay.h"

#include <algorithm>
#include <cmath>

#include "fovea/figure/box_labels.h"
#include "fovea/figure/contour.h"
#include "fovea/figure/picture_tone.h"
#include "fovea/render/cells.h"

namespace fovea {
namespace {

constexpr double kAreaTint = 0.45;   // of an area
constexpr double kLabelPadding = 3;  // left and right of the letters
constexpr double kSmallPanel = 330;  // below it letters and lines are smaller

void draw_outlines(Canvas& canvas, std::vector<std::vector<Point>> lines, int64_t rows,
                   int64_t cols, const Rect& where, Rgb color, Rgb around, double width) {
  for (auto& line : lines) {
    for (Point& point : line) {
      point = {where.x + point.x * where.width / static_cast<double>(cols),
               where.y + point.y * where.height / static_cast<double>(rows)};
    }
  }
  canvas.polylines(lines, {.color = around, .width = width + 1});
  canvas.polylines(lines, {.color = color, .width = width});
}

CanvasPicture canvas_picture(const Picture& picture) {
  CellImage image{.width = picture.width, .height = picture.height, .pixels = {}};
  image.pixels.reserve(static_cast<size_t>(picture.width * picture.height));
  for (size_t i = 0; i < picture.bytes.size(); i += 3) {
    image.pixels.push_back(
        opaque_pixel({picture.bytes[i], picture.bytes[i + 1], picture.bytes[i + 2]}));
  }
  return CanvasPicture(image, /*smooth=*/true);
}

void draw_mask(Canvas& canvas, const ImageMask& mask, const Rect& where) {
  const Rgb color = object_color(mask.color);
  const std::vector<bool> inside(mask.cells.begin(), mask.cells.end());
  CellImage tint{.width = mask.cols, .height = mask.rows, .pixels = {}};
  tint.pixels.reserve(inside.size());
  for (const bool in : inside) tint.pixels.push_back(in ? opaque_pixel(color) : 0);
  canvas.picture(CanvasPicture(tint), where, kAreaTint);
  draw_outlines(canvas, edges_of(inside, mask.rows, mask.cols), mask.rows, mask.cols, where, color,
                kInk, 1.1);
}

void draw_weights(Canvas& canvas, const ImageFigure& figure, const ImagePanel& panel,
                  const PictureBase& base, const ColorAxis& axis, const Rect& where) {
  const auto weights = panel.weights.matrix<float>();
  canvas.picture(base.ground, where);
  canvas.picture(
      CanvasPicture(figure.smooth ? smooth_cover(weights, axis) : cover_cells(weights, axis),
                    figure.smooth),
      where);
  draw_outlines(canvas, contour_of(figure, panel), weights.rows, weights.cols, where, kWhite,
                {0, 0, 0}, 1);
}

Rect box_rect(const ImageBox& box, const Rect& where) {
  const auto part = [](double value) { return std::clamp(value, 0.0, 1.0); };
  const double left = where.x + part(box.left) * where.width;
  const double top = where.y + part(box.top) * where.height;
  return {left, top, where.x + part(box.right) * where.width - left,
          where.y + part(box.bottom) * where.height - top};
}

// All frames first, then all names, so that no frame crosses a name.
void draw_boxes(Canvas& canvas, const std::vector<ImageBox>& boxes, const Rect& where) {
  const bool small = where.width < kSmallPanel;
  const TextStyle style{.size = small ? 8.5 : 10.5, .color = kInk, .strong = true};
  std::vector<TextBlock> names;
  std::vector<BoxLabel> labels;
  for (const ImageBox& box : boxes) {
    const Rect rect = box_rect(box, where);
    canvas.outline(rect, {.color = kInk, .width = small ? 3.0 : 4.0, .opacity = 0.75});
    names.push_back(box.label.empty()
                        ? TextBlock()
                        : TextBlock::line(box.label, style, where.width - 2 * kLabelPadding));
    const double width = box.label.empty() ? 0 : names.back().width() + 2 * kLabelPadding;
    labels.push_back({rect, width, names.back().height() + 1});
  }
  for (size_t i = 0; i < boxes.size(); ++i) {
    canvas.outline(labels[i].box,
                   {.color = object_color(boxes[i].color), .width = small ? 1.5 : 2.0});
  }
  const std::vector<Rect> places = place_labels(labels, where);
  for (size_t i = 0; i < boxes.size(); ++i) {
    if (boxes[i].label.empty()) continue;
    const Rgb color = object_color(boxes[i].color);
    canvas.fill(places[i], color);
    canvas.text(names[i], {places[i].x + kLabelPadding, places[i].y + 0.5}, text_color_on(color));
  }
}

}  // namespace

PictureBase PictureBase::of(const Picture& picture) {
  return {canvas_picture(picture), canvas_picture(dark_ground(picture))};
}

Rect cell_rect(const Tensor& weights, const CellMark& cell, const Rect& where) {
  const double width = where.width / static_cast<double>(weights.size(1));
  const double height = where.height / static_cast<double>(weights.size(0));
  return {where.x + static_cast<double>(cell.col) * width,
          where.y + static_cast<double>(cell.row) * height, width, height};
}

void draw_overlay(Canvas& canvas, const ImageFigure& figure, const ImagePanel& panel,
                  const PictureBase& base, const ColorAxis& axis, const Rect& where) {
  if (panel.weights.empty()) {
    canvas.picture(base.plain, where);
  } else {
    draw_weights(canvas, figure, panel, base, axis, where);
  }
  for (const ImageMask& mask : panel.masks) draw_mask(canvas, mask, where);
  draw_boxes(canvas, panel.boxes, where);
  if (panel.chosen) {
    const Rect patch = cell_rect(panel.weights, *panel.chosen, where);
    constexpr double kOut = 0.75;
    canvas.outline(
        {patch.x - kOut, patch.y - kOut, patch.width + 2 * kOut, patch.height + 2 * kOut},
        {.color = kWhite, .width = 1.5});
    canvas.outline(
        {patch.x + kOut, patch.y + kOut, patch.width - 2 * kOut, patch.height - 2 * kOut},
        {.color = kAccent, .width = 1.5});
  }
}

ColorMap colors_of_bar(const ImageFigure& figure, const ColorMap& colors) {
  return colors_over_ground(colors, figure.scale.is_signed());
}

}  // namespace fovea
