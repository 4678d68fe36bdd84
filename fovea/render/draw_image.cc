// The weights of patches over their picture. One colour per patch: what lies between patches was
// never computed.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>

#include "fovea/base/error.h"
#include "fovea/render/cells.h"
#include "fovea/render/color_axis.h"
#include "fovea/render/contour.h"
#include "fovea/render/draw.h"
#include "fovea/render/picture_tone.h"

namespace fovea {
namespace {

constexpr double kComfortable = 880;
constexpr double kLargestPanel = 260;
constexpr double kGap = 16;
constexpr double kBarSpace = 24;
constexpr TextStyle kPanelStyle{.size = 10.5, .color = kInk, .strong = true};
constexpr TextStyle kNoteStyle{.size = 10, .color = kMuted};

CellImage to_cell_image(const Picture& picture) {
  CellImage image{.width = picture.width, .height = picture.height, .pixels = {}};
  image.pixels.reserve(static_cast<size_t>(picture.width * picture.height));
  for (size_t i = 0; i < picture.bytes.size(); i += 3) {
    image.pixels.push_back(
        opaque_pixel({picture.bytes[i], picture.bytes[i + 1], picture.bytes[i + 2]}));
  }
  return image;
}

struct Plan {
  const ImageFigure* figure;
  ColorAxis axis;
  ColorMap bar_colors;  // as they look over the picture
  CanvasPicture picture;
  CanvasPicture quiet_picture;    // below colours that fade out
  std::vector<TextBlock> titles;  // the picture's own first
  TextBlock note;
  std::optional<ColorBar> bar;
  int64_t across = 1;
  double width = 0;  // of a panel
  double height = 0;

  double title_height() const { return titles[0].height() + 5; }
  double maps_width() const { return static_cast<double>(across) * (width + kGap) - kGap; }
  double maps_height() const {
    const auto count = static_cast<int64_t>(titles.size());
    const auto lines = static_cast<double>((count + across - 1) / across);
    return lines * (height + title_height() + kGap) - kGap;
  }
};

void draw_ring(Canvas& canvas, const ImageRing& ring, const ImagePanel& panel, const Rect& where) {
  constexpr int kPieces = 96;
  const double cell_width = where.width / static_cast<double>(panel.weights.size(1));
  const double cell_height = where.height / static_cast<double>(panel.weights.size(0));
  // Cut off at the picture's edge.
  std::vector<std::vector<Point>> arcs(1);
  for (int i = 0; i <= kPieces; ++i) {
    const double angle = 2 * std::numbers::pi * i / kPieces;
    const double col = static_cast<double>(ring.centre.col) + 0.5 + ring.radius * std::cos(angle);
    const double row = static_cast<double>(ring.centre.row) + 0.5 + ring.radius * std::sin(angle);
    const Point point{where.x + col * cell_width, where.y + row * cell_height};
    const bool inside = point.x >= where.x && point.x <= where.x + where.width &&
                        point.y >= where.y && point.y <= where.y + where.height;
    if (inside) {
      arcs.back().push_back(point);
    } else if (!arcs.back().empty()) {
      arcs.emplace_back();
    }
  }
  const std::vector<double> dashes =
      ring.dotted ? std::vector<double>{1.5, 4} : std::vector<double>{};
  canvas.polylines(arcs, {.color = kWhite, .width = 3, .opacity = 0.85});
  canvas.polylines(arcs, {.color = kInk, .width = 1.3, .dashes = dashes});
}

void draw_panel(Canvas& canvas, const Plan& plan, const ImagePanel& panel, const Rect& where) {
  const ImageFigure& figure = *plan.figure;
  const auto weights = panel.weights.matrix<float>();
  canvas.picture(has_forbidden(weights) ? plan.picture : plan.quiet_picture, where);
  canvas.picture(CanvasPicture(cover_cells(weights, plan.axis, figure.opacity), figure.smooth),
                 where);
  const double cell_width = where.width / static_cast<double>(weights.cols);
  const double cell_height = where.height / static_cast<double>(weights.rows);
  if (figure.contour_mass > 0) {
    std::vector<std::vector<Point>> lines = mass_contour(weights, figure.contour_mass);
    for (auto& line : lines) {
      for (Point& point : line) {
        point = {where.x + point.x * cell_width, where.y + point.y * cell_height};
      }
    }
    const bool dark = has_forbidden(weights);
    canvas.polylines(lines, {.color = dark ? kInk : kWhite, .width = 2.75, .opacity = 0.8});
    canvas.polylines(lines, {.color = dark ? kWhite : kInk, .width = 1.1});
  }
  for (const ImageRing& ring : panel.rings) draw_ring(canvas, ring, panel, where);
  if (panel.chosen) {
    const Rect patch{where.x + static_cast<double>(panel.chosen->col) * cell_width,
                     where.y + static_cast<double>(panel.chosen->row) * cell_height, cell_width,
                     cell_height};
    canvas.outline(patch, {.color = kWhite, .width = 3});
    canvas.outline(patch, {.color = kAccent, .width = 1.5});
  }
}

void draw_plan(Canvas& canvas, const Plan& plan, Point at) {
  for (size_t i = 0; i < plan.titles.size(); ++i) {
    const auto line = static_cast<double>(static_cast<int64_t>(i) / plan.across);
    const auto column = static_cast<double>(static_cast<int64_t>(i) % plan.across);
    const Point corner =
        on_grid({at.x + column * (plan.width + kGap),
                 at.y + line * (plan.height + plan.title_height() + kGap) + plan.title_height()});
    const Rect where{corner.x, corner.y, plan.width, plan.height};
    canvas.text(plan.titles[i], {where.x, where.y - plan.title_height()});
    if (i == 0) {
      canvas.picture(plan.picture, where);
    } else {
      draw_panel(canvas, plan, plan.figure->panels[i - 1], where);
    }
  }
  canvas.text(plan.note, {at.x, at.y + plan.maps_height() + 10});
  plan.bar->draw(canvas, {at.x + plan.maps_width() + kBarSpace, at.y + plan.title_height()});
}

void check(const ImageFigure& figure) {
  if (figure.picture.width < 1 || figure.picture.height < 1 || figure.panels.empty() ||
      figure.panels_across < 1 || !(figure.opacity >= 0 && figure.opacity <= 1) ||
      !(figure.contour_mass >= 0 && figure.contour_mass <= 1)) {
    fail(
        ErrorKind::kInvalidArgument,
        "a picture of {} x {} with {} panels, {} across, opacity {} and contour {} cannot be drawn",
        figure.picture.width, figure.picture.height, figure.panels.size(), figure.panels_across,
        figure.opacity, figure.contour_mass);
  }
  for (const ImagePanel& panel : figure.panels) {
    const bool matrix = panel.weights.rank() == 2;
    const int64_t rows = matrix ? panel.weights.size(0) : 1;
    const int64_t cols = matrix ? panel.weights.size(1) : 1;
    check_matrix(panel.weights, rows, cols, panel.title);
    if (panel.chosen && (panel.chosen->row < 0 || panel.chosen->row >= rows ||
                         panel.chosen->col < 0 || panel.chosen->col >= cols)) {
      fail(ErrorKind::kInvalidArgument, "patch {},{} is chosen but the grid has {} x {}",
           panel.chosen->row, panel.chosen->col, rows, cols);
    }
  }
}

std::string note_text(const ImageFigure& figure) {
  const Tensor& weights = figure.panels[0].weights;
  std::string text =
      fmt::format("{} \u00d7 {} patches, {}.", weights.size(0), weights.size(1),
                  figure.smooth ? "smoothed between their centres" : "one colour each");
  if (figure.contour_mass > 0) {
    text += figure.contour_mass < 1
                ? fmt::format(" The line holds {:g} % of the mass.", figure.contour_mass * 100)
                : " The line goes around what is shown.";
  }
  if (!figure.panels[0].rings.empty()) {
    text += " The rings hold 50 % (solid) and 90 % (dotted) of what lies on patches.";
  }
  return text;
}

}  // namespace

Body draw_image(const ImageFigure& figure, const ColorMap& colors) {
  check(figure);
  const Picture below = quiet(figure.picture);
  const bool masked = has_forbidden(figure.panels[0].weights.matrix<float>());
  auto plan = std::make_shared<Plan>(
      Plan{.figure = &figure,
           .axis = {colors, figure.scale},
           .bar_colors = colors_over(masked ? figure.picture : below, colors, figure.opacity),
           .picture = CanvasPicture(to_cell_image(figure.picture), /*smooth=*/true),
           .quiet_picture = CanvasPicture(to_cell_image(below), /*smooth=*/true)});
  plan->titles.push_back(TextBlock::line("picture", kPanelStyle));
  for (const ImagePanel& panel : figure.panels) {
    plan->titles.push_back(TextBlock::line(panel.title, kPanelStyle));
  }
  plan->across = std::min(figure.panels_across, static_cast<int64_t>(plan->titles.size()));
  const auto grid = static_cast<double>(figure.panels[0].weights.size(1));
  const double room = std::min(kComfortable / static_cast<double>(plan->across), kLargestPanel);
  plan->width = grid <= room ? std::floor(room / grid) * grid : room;  // whole units per patch
  plan->height = std::round(plan->width * static_cast<double>(figure.picture.height) /
                            static_cast<double>(figure.picture.width));
  plan->note = TextBlock::line(note_text(figure), kNoteStyle);
  plan->bar.emplace(ColorAxis(plan->bar_colors, figure.scale), figure.value_name,
                    std::clamp(plan->maps_height() - 44, 90.0, 200.0), /*with_hatch=*/false);
  Body body;
  body.width = std::max(plan->maps_width() + kBarSpace + plan->bar->width(), plan->note.width());
  body.height = std::max(plan->maps_height() + 10 + plan->note.height(),
                         plan->title_height() + plan->bar->height());
  body.draw = [plan](Canvas& canvas, Point at) { draw_plan(canvas, *plan, at); };
  return body;
}

}  // namespace fovea
