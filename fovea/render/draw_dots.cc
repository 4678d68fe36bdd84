// One number per head and layer: dots above each layer, side by side in the order of the heads.

#include <algorithm>
#include <cmath>
#include <memory>

#include "fovea/base/error.h"
#include "fovea/render/canvas.h"
#include "fovea/render/cells.h"
#include "fovea/render/color_bar.h"
#include "fovea/render/draw.h"

namespace fovea {
namespace {

constexpr double kDotsHeight = 280;
constexpr double kComfortableDots = 640;
constexpr double kDotRadius = 4.5;
constexpr double kDotsSpace = 8;
constexpr double kDotsKey = 10;
constexpr size_t kMostKeys = 16;  // beyond, colours come again and the order alone tells
constexpr TextStyle kDotsNameStyle{.size = 10.5, .color = kMuted};

struct DotsPlan {
  DotsFigure figure;  // by value: drawn later; tensors are shared
  double top_value = 1;
  double pitch = 0;  // from group to group
  double step = 0;   // from dot to dot
  std::vector<std::pair<double, TextBlock>> ticks;
  std::vector<TextBlock> groups;
  std::vector<TextBlock> keys;
  TextBlock value_name, group_name, reference_name;

  double left() const {
    double widest = 0;
    for (const auto& [value, text] : ticks) widest = std::max(widest, text.width());
    return widest + kDotsSpace;
  }
  double top() const { return value_name.height() + 10; }
  double plot_width() const { return static_cast<double>(groups.size()) * pitch; }
  double y_of(double value) const { return top() + kDotsHeight * (1 - value / top_value); }
  double bottom() const {
    return top() + kDotsHeight + kDotsSpace + groups[0].height() + 2 + group_name.height();
  }
  double keys_width() const {
    double widest = 0;
    for (const TextBlock& key : keys) widest = std::max(widest, key.width());
    widest = std::max(widest, reference_name.width());
    return widest == 0 ? 0 : 24 + kDotsKey + 6 + widest;
  }
  double keys_height() const {
    return keys.empty() ? 0 : static_cast<double>(keys.size()) * (keys[0].height() + 3);
  }
};

void draw_dot_axes(Canvas& canvas, const DotsPlan& plan, Point at) {
  const double left = at.x + plan.left();
  const double right = left + plan.plot_width();
  canvas.text(plan.value_name, at);
  for (const auto& [value, text] : plan.ticks) {
    const double y = at.y + plan.y_of(value);
    canvas.line({left, y}, {right, y}, {.color = value == 0 ? kMuted : kFaint, .width = 0.75});
    canvas.text(text,
                {left - kDotsSpace - text.width(), y + text.cap_height() / 2 - text.baseline()});
  }
  const double names = at.y + plan.top() + kDotsHeight + kDotsSpace;
  for (size_t g = 0; g < plan.groups.size(); ++g) {
    const double middle = left + (static_cast<double>(g) + 0.5) * plan.pitch;
    canvas.text(plan.groups[g], {middle - plan.groups[g].width() / 2, names});
  }
  canvas.text(plan.group_name, {(left + right) / 2 - plan.group_name.width() / 2,
                                names + plan.groups[0].height() + 2});
  if (!plan.figure.reference) return;
  const double y = at.y + plan.y_of(*plan.figure.reference);
  canvas.line({left, y}, {right, y}, {.color = kMuted, .width = 1, .dashes = {5, 4}});
}

void draw_groups(Canvas& canvas, const DotsPlan& plan, Point at) {
  const auto values = plan.figure.values.matrix<float>();
  for (int64_t g = 0; g < values.rows; ++g) {
    const double middle = at.x + plan.left() + (static_cast<double>(g) + 0.5) * plan.pitch;
    double sum = 0;
    for (int64_t s = 0; s < values.cols; ++s) sum += double{values(g, s)};
    const double mean = at.y + plan.y_of(sum / static_cast<double>(values.cols));
    const double reach = static_cast<double>(values.cols) * plan.step / 2 + 2;
    canvas.line({middle - reach, mean}, {middle + reach, mean}, {.color = kInk, .width = 1.25});
    for (int64_t s = 0; s < values.cols; ++s) {
      const double x =
          middle + (static_cast<double>(s) - static_cast<double>(values.cols - 1) / 2) * plan.step;
      const Rect dot{x - kDotRadius, at.y + plan.y_of(values(g, s)) - kDotRadius, 2 * kDotRadius,
                     2 * kDotRadius};
      canvas.fill_rounded(dot, kDotRadius, category_color(s));
      canvas.outline(dot, {.color = kWhite, .width = 0.75}, kDotRadius);
    }
  }
}

void draw_dot_keys(Canvas& canvas, const DotsPlan& plan, Point at) {
  const double x = at.x + plan.left() + plan.plot_width() + 24;
  for (size_t k = 0; k < plan.keys.size(); ++k) {
    const TextBlock& key = plan.keys[k];
    const double y = at.y + plan.top() + static_cast<double>(k) * (key.height() + 3);
    const double middle = y + key.baseline() - key.cap_height() / 2;
    canvas.fill_rounded({x, middle - kDotRadius, 2 * kDotRadius, 2 * kDotRadius}, kDotRadius,
                        category_color(static_cast<int64_t>(k)));
    canvas.text(key, {x + kDotsKey + 6, y});
  }
  if (!plan.figure.reference) return;
  const double y = at.y + plan.top() + plan.keys_height() + 6;
  const double middle = y + plan.reference_name.baseline() - plan.reference_name.cap_height() / 2;
  canvas.line({x - 3, middle}, {x + kDotsKey + 2, middle},
              {.color = kMuted, .width = 1, .dashes = {5, 4}});
  canvas.text(plan.reference_name, {x + kDotsKey + 6, y});
}

void check_dots(const DotsFigure& figure) {
  const auto groups = static_cast<int64_t>(figure.groups.size());
  const auto series = static_cast<int64_t>(figure.series.size());
  if (groups < 1 || series < 1) {
    fail(ErrorKind::kInvalidArgument, "{} layers of {} heads cannot be drawn; give one or more",
         groups, series);
  }
  check_matrix(figure.values, groups, series, "the dots");
  const auto fits = [](float value) { return std::isfinite(value) && value >= 0; };
  if (!std::ranges::all_of(figure.values.values<float>(), fits)) {
    fail(ErrorKind::kInvalidArgument, "dots are drawn from 0 upwards but a value is not");
  }
}

void place_dot_values(DotsPlan& plan) {
  double largest = plan.figure.reference.value_or(0);
  for (const float value : plan.figure.values.values<float>()) {
    largest = std::max(largest, double{value});
  }
  if (largest <= 0) largest = 1;
  const std::vector<double> rough = round_ticks(0, largest, 5);
  const double step = rough.size() > 1 ? rough[1] - rough[0] : largest;
  plan.top_value = std::ceil(largest / step - 1e-9) * step;
  for (const double value : round_ticks(0, plan.top_value, 5)) {
    plan.ticks.emplace_back(value, TextBlock::line(tick_text(value, step), kNumberStyle));
  }
}

}  // namespace

Body draw_dots(const DotsFigure& figure) {
  check_dots(figure);
  auto plan = std::make_shared<DotsPlan>(DotsPlan{.figure = figure});
  const auto groups = static_cast<double>(figure.groups.size());
  const auto series = static_cast<double>(figure.series.size());
  place_dot_values(*plan);
  plan->pitch = std::clamp(kComfortableDots / groups, 3 * series + 14, 96.0 + 2 * series);
  plan->step = std::min(2 * kDotRadius + 1, (plan->pitch - 14) / series);
  for (const std::string& group : figure.groups) {
    plan->groups.push_back(TextBlock::line(group, kNumberStyle));
  }
  if (figure.series.size() <= kMostKeys) {
    for (const std::string& name : figure.series) {
      plan->keys.push_back(TextBlock::line(name, kKeyStyle));
    }
  }
  plan->value_name = TextBlock::line(figure.value_name, kDotsNameStyle);
  plan->group_name = TextBlock::line(
      figure.group_name + "; within each the heads in their order, the line is their mean",
      kDotsNameStyle);
  if (figure.reference) {
    plan->reference_name = TextBlock::paragraph(figure.reference_name, kNumberStyle, 110);
  }
  Body body;
  body.width = std::max(plan->left() + plan->plot_width() + plan->keys_width(),
                        plan->left() + plan->group_name.width());
  body.height = plan->bottom();
  body.height =
      std::max(body.height, plan->top() + plan->keys_height() + 6 + plan->reference_name.height());
  body.draw = [plan](Canvas& canvas, Point at) {
    draw_dot_axes(canvas, *plan, at);
    draw_groups(canvas, *plan, at);
    draw_dot_keys(canvas, *plan, at);
  };
  return body;
}

}  // namespace fovea
