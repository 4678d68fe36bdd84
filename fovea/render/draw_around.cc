// A few points of a picture: the picture in the middle, the map of each point beside it.
#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>

#include "fovea/base/error.h"
#include "fovea/render/canvas.h"
#include "fovea/render/draw.h"
#include "fovea/render/overlay.h"

namespace fovea {
namespace {

constexpr double kMiddle = 400;     // width of the picture
constexpr double kSide = 220;       // width of a map
constexpr double kChannel = 34;     // between them, where the lines run
constexpr double kAroundGap = 14;   // between maps
constexpr double kPointRadius = 5;  // radius of a marked point

struct AroundPlan {
  const ImageFigure* figure;
  ColorAxis axis;
  PictureBase base;
  ColorMap bar_colors;
  std::optional<FlatColorBar> bar;
  TextBlock note;
  std::vector<TextBlock> titles;
  std::vector<size_t> left = {};  // panels, from above
  std::vector<size_t> right = {};
  double side_width = 0;
  double side_height = 0;
  double middle_height = 0;
  double title_height = 0;
  double height = 0;  // without the note

  double column_height(const std::vector<size_t>& column) const {
    return static_cast<double>(column.size()) * (title_height + side_height + kAroundGap) -
           kAroundGap;
  }
  double center_height() const { return middle_height + 14 + bar->height(); }
  double middle_x() const { return left.empty() ? 0 : side_width + kChannel; }
};

// Points on the left go to the left, so that lines do not cross the picture more than they must.
void choose_sides(const ImageFigure& figure, AroundPlan& plan) {
  std::vector<size_t> order(figure.panels.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto place = [&](size_t i) { return *figure.panels[i].chosen; };
  std::ranges::stable_sort(order, {}, [&](size_t i) { return place(i).col; });
  const auto half = order.begin() + static_cast<ptrdiff_t>(order.size() / 2);
  plan.left.assign(order.begin(), half);
  plan.right.assign(half, order.end());
  for (std::vector<size_t>* column : {&plan.left, &plan.right}) {
    std::ranges::stable_sort(*column, {}, [&](size_t i) { return place(i).row; });
  }
}

void draw_link(Canvas& canvas, Point from, Point to, Rgb color) {
  canvas.line(from, to, {.color = kInk, .width = 3.2, .opacity = 0.8});
  canvas.line(from, to, {.color = color, .width = 1.6});
}

void draw_dot(Canvas& canvas, Point center, Rgb color) {
  const auto circle = [&](double radius, Rgb fill) {
    canvas.fill_rounded({center.x - radius, center.y - radius, 2 * radius, 2 * radius}, radius,
                        fill);
  };
  circle(kPointRadius, kInk);
  circle(kPointRadius - 1.2, color);
}

// Where the map of panel `column[i]` stands.
Rect side_rect(const AroundPlan& plan, const std::vector<size_t>& column, size_t i, Point corner) {
  const double top = corner.y + (plan.height - plan.column_height(column)) / 2;
  const Point at =
      on_grid({corner.x,
               top + static_cast<double>(i) * (plan.title_height + plan.side_height + kAroundGap) +
                   plan.title_height});
  return {at.x, at.y, plan.side_width, plan.side_height};
}

void draw_around_plan(Canvas& canvas, const AroundPlan& plan, Point at) {
  const ImageFigure& figure = *plan.figure;
  const Point corner =
      on_grid({at.x + plan.middle_x(), at.y + (plan.height - plan.center_height()) / 2});
  const Rect middle{corner.x, corner.y, kMiddle, plan.middle_height};
  canvas.picture(plan.base.plain, middle);
  const auto center_of = [&](size_t panel) {
    const Rect cell = cell_rect(figure.panels[panel].weights, *figure.panels[panel].chosen, middle);
    return Point{cell.x + cell.width / 2, cell.y + cell.height / 2};
  };
  for (const bool is_left : {true, false}) {
    const auto& column = is_left ? plan.left : plan.right;
    const double x = is_left ? at.x : middle.x + middle.width + kChannel;
    for (size_t i = 0; i < column.size(); ++i) {
      const size_t panel = column[i];
      const Rgb color = object_color(static_cast<int64_t>(panel));
      const Rect where = side_rect(plan, column, i, {x, at.y});
      canvas.text(plan.titles[panel], {where.x, where.y - plan.title_height});
      draw_overlay(canvas, figure, figure.panels[panel], plan.base, plan.axis, where);
      canvas.outline(where, {.color = kInk, .width = 3.2, .opacity = 0.8});
      canvas.outline(where, {.color = color, .width = 1.6});
      const Point end{is_left ? where.x + where.width : where.x, where.y + where.height / 2};
      draw_link(canvas, center_of(panel), end, color);
    }
  }
  for (size_t i = 0; i < figure.panels.size(); ++i) {
    draw_dot(canvas, center_of(i), object_color(static_cast<int64_t>(i)));
  }
  plan.bar->draw(
      canvas, {middle.x + (middle.width - plan.bar->width()) / 2, middle.y + middle.height + 14});
  canvas.text(plan.note, {at.x, at.y + plan.height + 12});
}

void check_around(const ImageFigure& figure) {
  for (const ImagePanel& panel : figure.panels) {
    if (!panel.chosen) {
      fail(ErrorKind::kInvalidArgument,
           "panel '{}' has no point; around a picture stand the maps of its points", panel.title);
    }
  }
}

}  // namespace

Body draw_around(const ImageFigure& figure, const ColorMap& colors) {
  check_image(figure);
  check_around(figure);
  const ColorAxis axis(colors, figure.scale);
  auto plan = std::make_shared<AroundPlan>(
      AroundPlan{.figure = &figure,
                 .axis = axis,
                 .base = PictureBase::of(figure.picture),
                 .bar_colors = colors_of_bar(figure, colors),
                 .bar = {},
                 .note = TextBlock::line(patches_note(figure), kNoteStyle),
                 .titles = {}});
  plan->bar.emplace(ColorAxis(plan->bar_colors, figure.scale), figure.value_name);
  for (const ImagePanel& panel : figure.panels) {
    plan->titles.push_back(TextBlock::line(panel.title, kPanelStyle, kSide));
    plan->title_height = std::max(plan->title_height, plan->titles.back().height() + 5);
  }
  choose_sides(figure, *plan);
  const double shape =
      static_cast<double>(figure.picture.height) / static_cast<double>(figure.picture.width);
  const auto grid = static_cast<double>(figure.panels[0].weights.size(1));
  plan->side_width = grid <= kSide ? std::floor(kSide / grid) * grid : kSide;
  plan->side_height = std::round(plan->side_width * shape);
  plan->middle_height = std::round(kMiddle * shape);
  plan->height = std::max(
      {plan->center_height(), plan->column_height(plan->left), plan->column_height(plan->right)});
  Body body;
  body.width =
      std::max(plan->middle_x() + kMiddle + kChannel + plan->side_width, plan->note.width());
  body.height = plan->height + 12 + plan->note.height();
  body.draw = [plan](Canvas& canvas, Point at) { draw_around_plan(canvas, *plan, at); };
  return body;
}

}  // namespace fovea
