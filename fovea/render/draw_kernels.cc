// Heads as kernels over relative offsets, with the lines that hold 50 % and 90 % of each.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "fovea/base/error.h"
#include "fovea/figure/contour.h"
#include "fovea/render/canvas.h"
#include "fovea/render/cells.h"
#include "fovea/render/color_bar.h"
#include "fovea/render/draw.h"

namespace fovea {
namespace {

constexpr double kComfortableKernels = 860;
constexpr double kSmallestKernel = 104;
constexpr double kLargestKernel = 200;
constexpr double kLargestKernelCell = 20;
constexpr double kKernelsGap = 18;
constexpr double kKernelsBarSpace = 26;
constexpr TextStyle kKernelDetailStyle{.size = 9.5, .color = kMuted};
constexpr TextStyle kOffsetStyle{.size = 9, .color = kMuted};

// "−3", "0", "+3".
std::string offset_text(int64_t offset) {
  if (offset == 0) return "0";
  return fmt::format("{}{}", offset < 0 ? "\u2212" : "+", std::abs(offset));
}

struct KernelsPlan {
  KernelsFigure figure;  // by value: drawn later; tensors are shared
  ColorAxis axis;
  int64_t radius = 0;
  double cell = 0;
  int64_t across = 1;
  int64_t down = 1;
  std::vector<TextBlock> titles;
  std::vector<TextBlock> details;
  std::vector<TextBlock> offsets;  // of the first, the middle and the last cell
  TextBlock note;
  std::optional<ColorBar> bar;

  double side() const { return static_cast<double>(2 * radius + 1) * cell; }
  double left() const { return offsets.front().width() + 6; }
  double head() const { return titles[0].height() + details[0].height() + 4; }
  double pitch_x() const { return side() + kKernelsGap; }
  double pitch_y() const { return head() + side() + kKernelsGap; }
  double maps_width() const { return static_cast<double>(across) * pitch_x() - kKernelsGap; }
  // Below the panels, and where these are low below the colour bar too.
  double note_top() const {
    return std::max(maps_height(), head() - bar->bar_top() + bar->height()) + 10;
  }
  double maps_height() const {
    return static_cast<double>(down) * pitch_y() - kKernelsGap + offsets[0].height() + 3;
  }
};

// The centre of the first, the middle or the last cell.
double offset_center(const KernelsPlan& plan, size_t index) {
  return (static_cast<double>(static_cast<int64_t>(index) * plan.radius) + 0.5) * plan.cell;
}

void draw_row_offsets(Canvas& canvas, const KernelsPlan& plan, Point corner) {
  for (size_t i = 0; i < plan.offsets.size(); ++i) {
    const TextBlock& text = plan.offsets[i];
    canvas.text(text, {corner.x - 5 - text.width(), corner.y + offset_center(plan, i) +
                                                        text.cap_height() / 2 - text.baseline()});
  }
}

void draw_col_offsets(Canvas& canvas, const KernelsPlan& plan, Point corner) {
  for (size_t i = 0; i < plan.offsets.size(); ++i) {
    const TextBlock& text = plan.offsets[i];
    canvas.text(text,
                {corner.x + offset_center(plan, i) - text.width() / 2, corner.y + plan.side() + 3});
  }
}

void draw_contour(Canvas& canvas, const KernelsPlan& plan, const KernelPanel& panel, Point corner,
                  double share, const std::vector<double>& dashes) {
  auto lines = mass_contour(panel.weights.matrix<float>(), share);
  for (auto& line : lines) {
    for (Point& point : line) {
      point = {corner.x + point.x * plan.cell, corner.y + point.y * plan.cell};
    }
  }
  canvas.polylines(lines, {.color = kInk, .width = 2.5, .opacity = 0.75});
  canvas.polylines(lines, {.color = kWhite, .width = 1.25, .dashes = dashes});
}

void draw_panel(Canvas& canvas, const KernelsPlan& plan, const KernelPanel& panel, Point corner) {
  draw_cells(canvas, panel.weights.matrix<float>(), plan.axis, corner, plan.cell);
  draw_contour(canvas, plan, panel, corner, 0.9, {0.5, 3.5});
  draw_contour(canvas, plan, panel, corner, 0.5, {});
  const double middle = static_cast<double>(plan.radius) * plan.cell;
  const Rect own{corner.x + middle, corner.y + middle, plan.cell, plan.cell};
  canvas.outline(own, {.color = kWhite, .width = 2.5});
  canvas.outline(own, {.color = kAccent, .width = 1.25});
  const Point mean{corner.x + middle + (panel.centre_col + 0.5) * plan.cell,
                   corner.y + middle + (panel.centre_row + 0.5) * plan.cell};
  const double arm = std::clamp(plan.cell * 0.45, 3.0, 5.0);
  for (const Stroke& stroke :
       {Stroke{.color = kInk, .width = 3.25}, Stroke{.color = kWhite, .width = 1.5}}) {
    canvas.line({mean.x - arm, mean.y - arm}, {mean.x + arm, mean.y + arm}, stroke);
    canvas.line({mean.x - arm, mean.y + arm}, {mean.x + arm, mean.y - arm}, stroke);
  }
}

void draw_kernels_plan(Canvas& canvas, const KernelsPlan& plan, Point at) {
  const auto count = static_cast<int64_t>(plan.figure.panels.size());
  for (int64_t i = 0; i < count; ++i) {
    const auto panel = static_cast<size_t>(i);
    const double x = at.x + plan.left() + static_cast<double>(i % plan.across) * plan.pitch_x();
    const double y = at.y + static_cast<double>(i / plan.across) * plan.pitch_y();
    canvas.text(plan.titles[panel], {x, y});
    canvas.text(plan.details[panel], {x, y + plan.titles[panel].height()});
    const Point corner = on_grid({x, y + plan.head()});
    draw_panel(canvas, plan, plan.figure.panels[panel], corner);
    if (i % plan.across == 0) draw_row_offsets(canvas, plan, corner);
    if (i + plan.across >= count) draw_col_offsets(canvas, plan, corner);
  }
  canvas.text(plan.note, {at.x + plan.left(), at.y + plan.note_top()});
  plan.bar->draw(canvas, {at.x + plan.left() + plan.maps_width() + kKernelsBarSpace,
                          at.y + plan.head() - plan.bar->bar_top()});
}

int64_t checked_radius(const KernelsFigure& figure) {
  if (figure.panels.empty() || figure.panels_across < 1) {
    fail(ErrorKind::kInvalidArgument, "{} kernels, {} across, cannot be drawn; give one or more",
         figure.panels.size(), figure.panels_across);
  }
  const Tensor& first = figure.panels[0].weights;
  const int64_t side = first.rank() == 2 ? first.size(0) : 0;
  for (const KernelPanel& panel : figure.panels) {
    check_matrix(panel.weights, side, side, panel.title);
  }
  if (side % 2 == 0) {
    fail(ErrorKind::kInvalidArgument, "a kernel of {} x {} has no middle; give an odd side", side,
         side);
  }
  return side / 2;
}

}  // namespace

Body draw_kernels(const KernelsFigure& figure, const ColorMap& colors) {
  auto plan =
      std::make_shared<KernelsPlan>(KernelsPlan{.figure = figure, .axis = {colors, figure.scale}});
  plan->radius = checked_radius(figure);
  const auto count = static_cast<int64_t>(figure.panels.size());
  plan->across = std::min(figure.panels_across, count);
  plan->down = (count + plan->across - 1) / plan->across;
  const auto side = static_cast<double>(2 * plan->radius + 1);
  const double room = kComfortableKernels / static_cast<double>(plan->across) - kKernelsGap;
  const double fitting = std::floor(std::clamp(room, kSmallestKernel, kLargestKernel) / side);
  plan->cell = std::clamp(fitting, 2.0, kLargestKernelCell);
  for (const KernelPanel& panel : figure.panels) {
    plan->titles.push_back(TextBlock::line(panel.title, kPanelStyle));
    plan->details.push_back(TextBlock::line(panel.detail, kKernelDetailStyle));
  }
  for (const int64_t offset : {-plan->radius, int64_t{0}, plan->radius}) {
    plan->offsets.push_back(TextBlock::line(offset_text(offset), kOffsetStyle));
  }
  plan->bar.emplace(plan->axis, "mean weight", std::clamp(plan->maps_height() - 44, 90.0, 200.0),
                    ForbiddenKey::kNone);
  plan->note = TextBlock::paragraph(
      "Each cell: what a patch gives to the one so many patches further right and down, on "
      "average. "
      "Square: the patch itself; cross: the mean offset. Lines around the fewest cells that hold "
      "50 % (solid) and 90 % (dotted) of the kernel.",
      kNoteStyle, std::max(420.0, plan->maps_width() + kKernelsBarSpace));
  Body body;
  body.cell = plan->cell;
  body.width = plan->left() + std::max(plan->maps_width() + kKernelsBarSpace + plan->bar->width(),
                                       plan->note.width());
  body.height = plan->note_top() + plan->note.height();
  body.draw = [plan](Canvas& canvas, Point at) { draw_kernels_plan(canvas, *plan, at); };
  return body;
}

}  // namespace fovea
