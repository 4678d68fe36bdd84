// Pictures next to each other, each with its layers.
#include <algorithm>
#include <cmath>
#include <memory>

#include "fovea/figure/checks.h"
#include "fovea/render/canvas.h"
#include "fovea/render/draw.h"
#include "fovea/render/overlay.h"

namespace fovea {
namespace {

constexpr double kComfortableImage = 880;
constexpr double kLargestImage = 260;
constexpr double kLargestAlone = 640;  // of a few panels without the picture
constexpr double kImageGap = 16;
constexpr TextStyle kMassStyle{.size = 8.5, .color = kMuted};
constexpr double kImageBarSpace = 24;

struct ImagePlan {
  const ImageFigure* figure;
  ColorAxis axis;
  ColorMap bar_colors;  // as they look over the picture
  PictureBase base;
  std::vector<TextBlock> titles;  // the picture's own first, where it is shown
  std::vector<TextBlock> masses;  // below each of them; may be empty
  TextBlock note;                 // empty: none
  std::optional<ColorBar> bar;    // none: no panel has colours
  int64_t across = 1;
  double width = 0;  // of a panel
  double height = 0;

  size_t pictures_alone() const { return figure->layout == ImageLayout::kLines ? 1 : 0; }
  double mass_height() const {
    double highest = 0;
    for (const TextBlock& mass : masses) highest = std::max(highest, mass.height());
    return highest;
  }
  double title_height() const {
    return figure->panels.size() == titles.size() && figure->panels[0].title.empty()
               ? 0
               : titles[0].height() + mass_height() + 5;
  }
  double maps_width() const {
    return static_cast<double>(across) * (width + kImageGap) - kImageGap;
  }
  double maps_height() const {
    const auto count = static_cast<int64_t>(titles.size());
    const auto lines = static_cast<double>((count + across - 1) / across);
    return lines * (height + title_height() + kImageGap) - kImageGap;
  }
};

void draw_image_plan(Canvas& canvas, const ImagePlan& plan, Point at) {
  for (size_t i = 0; i < plan.titles.size(); ++i) {
    const auto line = static_cast<double>(static_cast<int64_t>(i) / plan.across);
    const auto column = static_cast<double>(static_cast<int64_t>(i) % plan.across);
    const Point corner = on_grid(
        {at.x + column * (plan.width + kImageGap),
         at.y + line * (plan.height + plan.title_height() + kImageGap) + plan.title_height()});
    const Rect where{corner.x, corner.y, plan.width, plan.height};
    canvas.text(plan.titles[i], {where.x, where.y - plan.title_height()});
    if (!plan.masses[i].empty()) {
      canvas.text(plan.masses[i], {where.x, where.y - plan.mass_height() - 4});
    }
    if (i < plan.pictures_alone()) {
      canvas.picture(plan.base.plain, where);
    } else {
      draw_overlay(canvas, *plan.figure, plan.figure->panels[i - plan.pictures_alone()], plan.base,
                   plan.axis, where);
    }
  }
  if (!plan.note.empty()) canvas.text(plan.note, {at.x, at.y + plan.maps_height() + 10});
  if (plan.bar) {
    plan.bar->draw(canvas, {at.x + plan.maps_width() + kImageBarSpace, at.y + plan.title_height()});
  }
}

double panel_width(const ImageFigure& figure, int64_t across) {
  const double largest = figure.layout == ImageLayout::kLines ? kLargestImage : kLargestAlone;
  const double room = std::min(kComfortableImage / static_cast<double>(across), largest);
  const Tensor& weights = figure.panels[0].weights;
  if (weights.empty()) return std::floor(room);
  const auto grid = static_cast<double>(weights.size(1));
  return grid <= room ? std::floor(room / grid) * grid : room;  // whole units per patch
}

}  // namespace

Body draw_image(const ImageFigure& figure, const ColorMap& colors) {
  check_image(figure);
  if (figure.layout == ImageLayout::kAround) return draw_around(figure, colors);
  if (figure.layout == ImageLayout::kParts) return draw_parts(figure, colors);
  if (figure.layout == ImageLayout::kSheet) return draw_image_sheet(figure, colors);
  auto plan = std::make_shared<ImagePlan>(ImagePlan{.figure = &figure,
                                                    .axis = {colors, figure.scale},
                                                    .bar_colors = colors_of_bar(figure, colors),
                                                    .base = PictureBase::of(figure.picture)});
  if (figure.layout == ImageLayout::kLines) {
    plan->titles.push_back(TextBlock::line("picture", kPanelStyle));
    plan->masses.emplace_back();
  }
  plan->across = std::min(figure.panels_across,
                          static_cast<int64_t>(plan->pictures_alone() + figure.panels.size()));
  plan->width = panel_width(figure, plan->across);
  plan->height = std::round(plan->width * static_cast<double>(figure.picture.height) /
                            static_cast<double>(figure.picture.width));
  for (const ImagePanel& panel : figure.panels) {
    plan->titles.push_back(TextBlock::line(panel.title, kPanelStyle, plan->width + kImageGap - 6));
    plan->masses.push_back(panel.note.empty() ? TextBlock()
                                              : TextBlock::line(panel.note, kMassStyle));
  }
  Body body;
  body.width = plan->maps_width();
  body.height = plan->maps_height();
  if (figure.has_weights()) {
    plan->note = TextBlock::line(patches_note(figure), kNoteStyle);
    plan->bar.emplace(ColorAxis(plan->bar_colors, figure.scale), figure.value_name,
                      std::clamp(plan->maps_height() - 44, 90.0, 200.0), ForbiddenKey::kNone);
    body.width = std::max(body.width + kImageBarSpace + plan->bar->width(), plan->note.width());
    body.height = std::max(body.height + 10 + plan->note.height(),
                           plan->title_height() + plan->bar->height());
  }
  body.draw = [plan](Canvas& canvas, Point at) { draw_image_plan(canvas, *plan, at); };
  return body;
}

}  // namespace fovea
