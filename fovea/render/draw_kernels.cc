// Heads as kernels over relative offsets, with the lines that hold 50 % and 90 % of each.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "fovea/base/error.h"
#include "fovea/figure/checks.h"
#include "fovea/figure/contour.h"
#include "fovea/render/canvas.h"
#include "fovea/render/color_bar.h"
#include "fovea/render/draw.h"

namespace fovea {
namespace {

constexpr double kComfortableKernels = 860;
constexpr double kSmallestKernel = 104;
constexpr double kLargestKernel = 200;
constexpr double kLargestKernelCell = 20;
constexpr double kNumberedKernelCell = 26;
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
  // Weights as numbers need no bar.
  bool numbered() const { return !figure.scale.times_even && cell >= kNumberedKernelCell; }
  // Beside the title where both have room.
  bool beside() const {
    double widest = 0;
    for (size_t i = 0; i < titles.size(); ++i) {
      widest = std::max(widest, titles[i].width() + 8 + details[i].width());
    }
    return widest <= side();
  }
  double head() const { return titles[0].height() + (beside() ? 0 : details[0].height()) + 4; }
  double pitch_x() const { return side() + kKernelsGap; }
  double pitch_y() const { return head() + side() + kKernelsGap; }
  double maps_width() const { return static_cast<double>(across) * pitch_x() - kKernelsGap; }
  // Below the panels, and where these are low below the colour bar too.
  double note_top() const {
    return std::max(maps_height(), bar ? head() - bar->bar_top() + bar->height() : 0) + 10;
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

// The fewest cells with half of what lies in the window, where they have few parts.
void draw_half(Canvas& canvas, const KernelsPlan& plan, const KernelPanel& panel, Point corner) {
  const auto weights = panel.weights.matrix<float>();
  const std::vector<bool> cells = cells_with_mass(weights, 0.5);
  if (!has_few_parts(cells, weights.rows, weights.cols)) return;
  auto lines = edges_of(cells, weights.rows, weights.cols);
  for (auto& line : lines) {
    for (Point& point : line) {
      point = {corner.x + point.x * plan.cell, corner.y + point.y * plan.cell};
    }
  }
  canvas.polylines(lines, {.color = kInk, .width = 2.2, .opacity = 0.8});
  canvas.polylines(lines, {.color = kWhite, .width = 1.2});
}

void draw_kernel_grid(Canvas& canvas, const KernelsPlan& plan, Point corner) {
  constexpr Rgb kGridColor{226, 226, 232};
  std::vector<std::vector<Point>> lines;
  for (int64_t i = 0; i <= 2 * plan.radius + 1; ++i) {
    const double at = static_cast<double>(i) * plan.cell;
    lines.push_back({{corner.x + at, corner.y}, {corner.x + at, corner.y + plan.side()}});
    lines.push_back({{corner.x, corner.y + at}, {corner.x + plan.side(), corner.y + at}});
  }
  canvas.polylines(lines, {.color = kGridColor, .width = 0.5});
}

// Weights in their cells, where they say more than 0.00.
void draw_kernel_numbers(Canvas& canvas, const KernelsPlan& plan, const KernelPanel& panel,
                         Point corner) {
  const auto weights = panel.weights.matrix<float>();
  for (int64_t r = 0; r < weights.rows; ++r) {
    for (int64_t c = 0; c < weights.cols; ++c) {
      if (weights(r, c) < 0.005F) continue;
      const TextBlock number =
          TextBlock::line(fmt::format("{:.2f}", weights(r, c)),
                          {.size = 8.5, .color = text_color_on(plan.axis.at(weights(r, c)))});
      canvas.text(number,
                  {corner.x + (static_cast<double>(c) + 0.5) * plan.cell - number.width() / 2,
                   corner.y + (static_cast<double>(r) + 0.5) * plan.cell + number.cap_height() / 2 -
                       number.baseline()});
    }
  }
}

void draw_panel(Canvas& canvas, const KernelsPlan& plan, const KernelPanel& panel, Point corner) {
  const auto weights = panel.weights.matrix<float>();
  for (int64_t r = 0; r < weights.rows; ++r) {
    for (int64_t c = 0; c < weights.cols; ++c) {
      canvas.fill({corner.x + static_cast<double>(c) * plan.cell,
                   corner.y + static_cast<double>(r) * plan.cell, plan.cell, plan.cell},
                  plan.axis.at(weights(r, c)));
    }
  }
  draw_kernel_grid(canvas, plan, corner);
  if (plan.numbered()) draw_kernel_numbers(canvas, plan, panel, corner);
  if (!plan.numbered()) draw_half(canvas, plan, panel, corner);
  const double middle = static_cast<double>(plan.radius) * plan.cell;
  const Rect own{corner.x + middle, corner.y + middle, plan.cell, plan.cell};
  // Black, with white inside: so that it shows on any colour.
  canvas.outline({own.x + 1.5, own.y + 1.5, own.width - 3, own.height - 3},
                 {.color = kWhite, .width = 1.5});
  canvas.outline(own, {.color = kInk, .width = 1.5});
}

void draw_kernels_plan(Canvas& canvas, const KernelsPlan& plan, Point at) {
  const auto count = static_cast<int64_t>(plan.figure.panels.size());
  for (int64_t i = 0; i < count; ++i) {
    const auto panel = static_cast<size_t>(i);
    const double x = at.x + plan.left() + static_cast<double>(i % plan.across) * plan.pitch_x();
    const double y = at.y + static_cast<double>(i / plan.across) * plan.pitch_y();
    canvas.text(plan.titles[panel], {x, y});
    const TextBlock& detail = plan.details[panel];
    canvas.text(detail, plan.beside() ? Point{x + plan.side() - detail.width(),
                                              y + plan.titles[panel].baseline() - detail.baseline()}
                                      : Point{x, y + plan.titles[panel].height()});
    const Point corner = on_grid({x, y + plan.head()});
    draw_panel(canvas, plan, plan.figure.panels[panel], corner);
    if (plan.numbered()) continue;  // a few cells, whose direction the title says
    if (i % plan.across == 0) draw_row_offsets(canvas, plan, corner);
    if (i + plan.across >= count) draw_col_offsets(canvas, plan, corner);
  }
  canvas.text(plan.note, {at.x + plan.left(), at.y + plan.note_top()});
  if (!plan.bar) return;
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
  plan->cell =
      std::clamp(fitting, 2.0, figure.scale.times_even ? kLargestKernelCell : kNumberedKernelCell);
  for (const KernelPanel& panel : figure.panels) {
    plan->titles.push_back(TextBlock::line(panel.title, kPanelStyle));
    plan->details.push_back(TextBlock::line(panel.detail, kKernelDetailStyle));
  }
  for (const int64_t offset : {-plan->radius, int64_t{0}, plan->radius}) {
    plan->offsets.push_back(TextBlock::line(offset_text(offset), kOffsetStyle));
  }
  const double bar_height = std::clamp(plan->maps_height() - 44, 90.0, 200.0);
  if (!plan->numbered()) {
    plan->bar.emplace(plan->axis,
                      figure.scale.times_even ? "mean weight, times even" : "mean weight",
                      bar_height, ForbiddenKey::kNone);
  }
  plan->note = TextBlock::paragraph(
      plan->numbered()
          ? "Black frame: the pixel that looks; in colour where it looks, with its weight."
          : "Each cell: what a patch gives to the one so many patches further right and down, on "
            "average. Black frame: the patch itself; white: even or less. Line: half of what lies "
            "in the window, where that has three parts at most.",
      kNoteStyle, std::max(420.0, plan->maps_width() + kKernelsBarSpace));
  Body body;
  body.cell = plan->cell;
  const double bar_width = plan->bar ? kKernelsBarSpace + plan->bar->width() : 0;
  body.width = plan->left() + std::max(plan->maps_width() + bar_width, plan->note.width());
  body.height = plan->note_top() + plan->note.height();
  body.draw = [plan](Canvas& canvas, Point at) { draw_kernels_plan(canvas, *plan, at); };
  return body;
}

}  // namespace fovea
