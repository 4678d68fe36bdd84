// Patches in the colours of those whom they belong to, over their picture.

#include <algorithm>
#include <cmath>
#include <memory>

#include "fovea/figure/contour.h"
#include "fovea/figure/owner_area.h"
#include "fovea/figure/picture_tone.h"
#include "fovea/render/canvas.h"
#include "fovea/render/cells.h"
#include "fovea/render/draw.h"
#include "fovea/render/overlay.h"

namespace fovea {
namespace {

constexpr double kLargestComposite = 320;
constexpr double kCompositeGap = 16;
constexpr double kLegendSpace = 26;
constexpr double kCompositeKey = 14;
constexpr double kOwnerTint = 0.62;
constexpr int64_t kLeastMarked = 4;  // patches; smaller parts have no room for a mark
constexpr TextStyle kCompositeDetailStyle{.size = 10.5, .color = kMuted};
constexpr TextStyle kMarkStyle{.size = 10, .color = kInk, .strong = true};

struct CompositePlan {
  CompositeFigure figure;  // by value: drawn later; tensors are shared
  PictureBase base;
  std::vector<OwnerArea> areas;
  std::vector<TextBlock> marks, names, details;
  TextBlock picture_title, title, nobody;
  double width = 0;
  double height = 0;

  double head() const { return title.height() + 5; }
  double line() const { return names[0].height() + 5; }
  double legend_height() const { return static_cast<double>(names.size() + 1) * line(); }
  double legend_width() const {
    double widest = nobody.width();
    for (size_t i = 0; i < names.size(); ++i) {
      widest = std::max(widest, names[i].width() + 8 + details[i].width());
    }
    return kCompositeKey + 8 + widest;
  }
};

void draw_areas(Canvas& canvas, const CompositePlan& plan, const Rect& where) {
  const double cell_width = where.width / static_cast<double>(plan.figure.owners.size(1));
  const double cell_height = where.height / static_cast<double>(plan.figure.owners.size(0));
  const auto owners = plan.figure.owners.matrix<float>();
  CellImage tint{.width = owners.cols, .height = owners.rows, .pixels = {}};
  for (int64_t r = 0; r < owners.rows; ++r) {
    for (int64_t c = 0; c < owners.cols; ++c) {
      const float owner = owners(r, c);
      tint.pixels.push_back(
          std::isnan(owner)
              ? 0
              : translucent_pixel(object_color(static_cast<int64_t>(owner)), kOwnerTint));
    }
  }
  canvas.picture(CanvasPicture(tint), where);
  for (const OwnerArea& area : plan.areas) {
    auto lines = mass_contour(area.cells.matrix<float>(), 1);
    for (auto& line : lines) {
      for (Point& point : line) {
        point = {where.x + point.x * cell_width, where.y + point.y * cell_height};
      }
    }
    canvas.polylines(lines, {.color = kInk, .width = 1, .opacity = 0.55});
  }
  for (const OwnerArea& area : plan.areas) {
    if (area.largest < kLeastMarked) continue;
    const TextBlock& mark = plan.marks[static_cast<size_t>(area.owner)];
    const Point middle{where.x + (static_cast<double>(area.marked.col) + 0.5) * cell_width,
                       where.y + (static_cast<double>(area.marked.row) + 0.5) * cell_height};
    const double radius = std::max(mark.width(), mark.cap_height()) / 2 + 4;
    canvas.fill_rounded({middle.x - radius, middle.y - radius, 2 * radius, 2 * radius}, radius,
                        object_color(area.owner));
    canvas.outline({middle.x - radius, middle.y - radius, 2 * radius, 2 * radius},
                   {.color = kInk, .width = 1}, radius);
    canvas.text(mark,
                {middle.x - mark.width() / 2, middle.y + mark.cap_height() / 2 - mark.baseline()},
                text_color_on(object_color(area.owner)));
  }
}

void draw_legend(Canvas& canvas, const CompositePlan& plan, Point at) {
  const auto key = [&](double y, const TextBlock& name) {
    return Rect{at.x, y + name.baseline() - name.cap_height() / 2 - kCompositeKey / 2,
                kCompositeKey, kCompositeKey};
  };
  for (size_t i = 0; i < plan.names.size(); ++i) {
    const double y = at.y + static_cast<double>(i) * plan.line();
    const Rect square = key(y, plan.names[i]);
    canvas.fill(square, object_color(static_cast<int64_t>(i)));
    canvas.outline(square, {.color = kMuted, .width = 0.75});
    canvas.text(plan.names[i], {at.x + kCompositeKey + 8, y});
    canvas.text(plan.details[i], {at.x + kCompositeKey + 16 + plan.names[i].width(), y});
  }
  const double y = at.y + static_cast<double>(plan.names.size()) * plan.line();
  const Rect square = key(y, plan.nobody);
  canvas.fill(square, colors_over_ground(inferno(), false).at(0));
  canvas.outline(square, {.color = kMuted, .width = 0.75});
  canvas.text(plan.nobody, {at.x + kCompositeKey + 8, y});
}

}  // namespace

Body draw_composite(const CompositeFigure& figure) {
  check_composite(figure);
  auto plan = std::make_shared<CompositePlan>(
      CompositePlan{.figure = figure, .base = PictureBase::of(figure.picture)});
  for (size_t i = 0; i < figure.names.size(); ++i) {
    plan->areas.push_back(owner_area(figure, static_cast<int64_t>(i)));
    plan->marks.push_back(TextBlock::line(figure.names[i].mark, kMarkStyle));
    plan->names.push_back(TextBlock::line(figure.names[i].name, kPanelStyle));
    plan->details.push_back(TextBlock::line(figure.names[i].detail, kCompositeDetailStyle));
  }
  plan->picture_title = TextBlock::line("picture", kPanelStyle);
  plan->title = TextBlock::line("the strongest head of each patch", kPanelStyle);
  plan->nobody = TextBlock::line("in no mask", kCompositeDetailStyle);
  const auto grid = static_cast<double>(figure.owners.size(1));
  plan->width =
      grid <= kLargestComposite ? std::floor(kLargestComposite / grid) * grid : kLargestComposite;
  plan->height = std::round(plan->width * static_cast<double>(figure.picture.height) /
                            static_cast<double>(figure.picture.width));
  Body body;
  body.width = 2 * plan->width + kCompositeGap + kLegendSpace + plan->legend_width();
  body.height = plan->head() + std::max(plan->height, plan->legend_height());
  body.draw = [plan](Canvas& canvas, Point at) {
    const Point first = on_grid({at.x, at.y + plan->head()});
    const Rect left{first.x, first.y, plan->width, plan->height};
    const Rect right{first.x + plan->width + kCompositeGap, first.y, plan->width, plan->height};
    canvas.text(plan->picture_title, at);
    canvas.text(plan->title, {right.x, at.y});
    canvas.picture(plan->base.plain, left);
    canvas.picture(plan->base.ground, right);
    draw_areas(canvas, *plan, right);
    draw_legend(canvas, *plan, {right.x + plan->width + kLegendSpace, right.y});
  };
  return body;
}

}  // namespace fovea
