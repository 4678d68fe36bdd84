// A picture in parts: at the place of each part a small picture of what its cells attend to.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <tuple>

#include "fovea/figure/picture_tone.h"
#include "fovea/render/canvas.h"
#include "fovea/render/draw.h"
#include "fovea/render/overlay.h"

namespace fovea {
namespace {

constexpr double kPartSide = 64;  // the longer side of a small picture
constexpr double kPartGap = 5;
constexpr double kAloneSide = 190;  // of the picture beside them
constexpr double kAloneGap = 26;
constexpr double kPartTitle = 20;
constexpr double kPartBarSpace = 18;

struct PartsPlan {
  const ImageFigure* figure;
  ColorAxis axis;
  ColorMap bar_colors;  // as they look over the picture
  PictureBase base;
  TextBlock alone_title, parts_title, note;
  std::optional<ColorBar> bar;
  int64_t across = 1, down = 1;
  double width = 0, height = 0;              // of a small picture
  double alone_width = 0, alone_height = 0;  // of the picture

  double left() const { return alone_width + kAloneGap; }
  double parts_width() const { return static_cast<double>(across) * (width + kPartGap) - kPartGap; }
  double parts_height() const { return static_cast<double>(down) * (height + kPartGap) - kPartGap; }
};

Rect part_rect(const ImageBox& part, const Rect& where) {
  return {where.x + part.left * where.width, where.y + part.top * where.height,
          (part.right - part.left) * where.width, (part.bottom - part.top) * where.height};
}

// Beside the parts: the picture as it is, with the lines between them.
void draw_picture_in_parts(Canvas& canvas, const PartsPlan& plan, const Rect& where) {
  canvas.picture(plan.base.plain, where);
  for (const ImagePanel& panel : plan.figure->panels) {
    if (panel.part) canvas.outline(part_rect(*panel.part, where), {.color = kWhite, .width = 0.5});
  }
}

void draw_parts_plan(Canvas& canvas, const PartsPlan& plan, Point at) {
  canvas.text(plan.alone_title, at);
  const Point alone = on_grid({at.x, at.y + kPartTitle});
  draw_picture_in_parts(canvas, plan, {alone.x, alone.y, plan.alone_width, plan.alone_height});
  canvas.text(plan.note, {alone.x, alone.y + plan.alone_height + 10});
  const Point corner = on_grid({at.x + plan.left(), at.y + kPartTitle});
  canvas.text(plan.parts_title, {corner.x, at.y});
  for (size_t i = 0; i < plan.figure->panels.size(); ++i) {
    const ImagePanel& panel = plan.figure->panels[i];
    const auto line = static_cast<double>(static_cast<int64_t>(i) / plan.across);
    const auto column = static_cast<double>(static_cast<int64_t>(i) % plan.across);
    const Rect where{corner.x + column * (plan.width + kPartGap),
                     corner.y + line * (plan.height + kPartGap), plan.width, plan.height};
    draw_overlay(canvas, *plan.figure, panel, plan.base, plan.axis, where);
    if (panel.part) canvas.outline(part_rect(*panel.part, where), {.color = kWhite, .width = 0.5});
  }
  if (plan.bar) {
    plan.bar->draw(canvas, {corner.x + plan.parts_width() + kPartBarSpace, corner.y});
  }
}

}  // namespace

Body draw_parts(const ImageFigure& figure, const ColorMap& colors) {
  auto plan = std::make_shared<PartsPlan>(
      PartsPlan{.figure = &figure,
                .axis = {colors, figure.scale},
                .bar_colors = colors_of_bar(figure, colors),
                .base = PictureBase::of(figure.picture),
                .alone_title = TextBlock::line("picture", kPanelStyle)});
  plan->base.ground = PictureBase::of(faint_ground(figure.picture)).plain;
  plan->across = figure.panels_across;
  plan->down = (std::ssize(figure.panels) + plan->across - 1) / plan->across;
  const auto wide = static_cast<double>(figure.picture.width);
  const auto high = static_cast<double>(figure.picture.height);
  const auto fit = [&](double side) {
    return std::pair(std::round(side * wide / std::max(wide, high)),
                     std::round(side * high / std::max(wide, high)));
  };
  std::tie(plan->width, plan->height) = fit(kPartSide);
  std::tie(plan->alone_width, plan->alone_height) = fit(kAloneSide);
  plan->parts_title =
      TextBlock::line(fmt::format("{} × {} parts of it", plan->down, plan->across), kPanelStyle);
  plan->note = TextBlock::paragraph(patches_note(figure), kNoteStyle, plan->alone_width);
  plan->bar.emplace(ColorAxis(plan->bar_colors, figure.scale), figure.value_name,
                    std::clamp(plan->parts_height() - 44, 90.0, 200.0), ForbiddenKey::kNone);
  Body body;
  body.width = plan->left() + plan->parts_width() + kPartBarSpace + plan->bar->width();
  body.height = kPartTitle + std::max({plan->parts_height(), plan->bar->height(),
                                       plan->alone_height + 10 + plan->note.height()});
  body.draw = [plan](Canvas& canvas, Point at) { draw_parts_plan(canvas, *plan, at); };
  return body;
}

}  // namespace fovea
