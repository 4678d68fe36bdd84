// All heads of all layers over one picture: a line for each layer, a column for each head.
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "fovea/figure/checks.h"
#include "fovea/render/canvas.h"
#include "fovea/render/draw.h"
#include "fovea/render/overlay.h"

namespace fovea {
namespace {

constexpr double kComfortableSheet = 800;
constexpr double kLargestInSheet = 112;
constexpr double kLeastInSheet = 40;
constexpr double kSheetGap = 4;
constexpr double kSheetNameGap = 8;
constexpr double kSheetBarSpace = 20;
constexpr TextStyle kSheetName{.size = 9.5, .color = kMuted};

struct SheetPlan {
  const ImageFigure* figure;
  ColorAxis axis;
  ColorMap bar_colors;  // as they look over the picture
  PictureBase base;
  TextBlock note;
  std::optional<ColorBar> bar = {};
  std::vector<TextBlock> row_names = {};
  std::vector<TextBlock> col_names = {};
  double width = 0;  // of a panel
  double height = 0;
  double names_width = 0;
  double names_height = 0;

  double maps_width() const {
    return static_cast<double>(col_names.size()) * (width + kSheetGap) - kSheetGap;
  }
  double maps_height() const {
    return static_cast<double>(row_names.size()) * (height + kSheetGap) - kSheetGap;
  }
};

void draw_sheet_plan(Canvas& canvas, const SheetPlan& plan, Point at) {
  const Point corner = on_grid({at.x + plan.names_width, at.y + plan.names_height});
  for (size_t c = 0; c < plan.col_names.size(); ++c) {
    canvas.text(plan.col_names[c],
                {corner.x + static_cast<double>(c) * (plan.width + kSheetGap), at.y});
  }
  for (size_t r = 0; r < plan.row_names.size(); ++r) {
    const double y = corner.y + static_cast<double>(r) * (plan.height + kSheetGap);
    const TextBlock& name = plan.row_names[r];
    canvas.text(name, {corner.x - kSheetNameGap - name.width(),
                       y + plan.height / 2 + name.cap_height() / 2 - name.baseline()});
    for (size_t c = 0; c < plan.col_names.size(); ++c) {
      draw_overlay(canvas, *plan.figure, plan.figure->panels[r * plan.col_names.size() + c],
                   plan.base, plan.axis,
                   {corner.x + static_cast<double>(c) * (plan.width + kSheetGap), y, plan.width,
                    plan.height});
    }
  }
  canvas.text(plan.note, {at.x, corner.y + plan.maps_height() + 10});
  plan.bar->draw(canvas, {corner.x + plan.maps_width() + kSheetBarSpace, corner.y - 2});
}

}  // namespace

Body draw_image_sheet(const ImageFigure& figure, const ColorMap& colors) {
  check_image(figure);
  const auto cols = static_cast<double>(figure.col_names.size());
  auto plan = std::make_shared<SheetPlan>(
      SheetPlan{.figure = &figure,
                .axis = {colors, figure.scale},
                .bar_colors = colors_of_bar(figure, colors),
                .base = PictureBase::of(figure.picture),
                .note = TextBlock::line(patches_note(figure), kNoteStyle)});
  plan->bar.emplace(ColorAxis(plan->bar_colors, figure.scale), figure.value_name, 170,
                    ForbiddenKey::kNone);
  const double room = std::clamp(kComfortableSheet / cols, kLeastInSheet, kLargestInSheet);
  const auto grid = static_cast<double>(figure.panels[0].weights.size(1));
  plan->width = grid <= 2 * room ? std::floor(2 * room / grid) * grid / 2 : room;
  plan->height = std::round(2 * plan->width * static_cast<double>(figure.picture.height) /
                            static_cast<double>(figure.picture.width)) /
                 2;
  for (const std::string& name : figure.col_names) {
    plan->col_names.push_back(TextBlock::line(name, kSheetName, plan->width));
    plan->names_height = std::max(plan->names_height, plan->col_names.back().height() + 4);
  }
  for (const std::string& name : figure.row_names) {
    plan->row_names.push_back(TextBlock::line(name, kSheetName));
    plan->names_width = std::max(plan->names_width, plan->row_names.back().width() + kSheetNameGap);
  }
  Body body;
  body.width =
      std::max(plan->names_width + plan->maps_width() + kSheetBarSpace + plan->bar->width(),
               plan->note.width());
  body.height = std::max(plan->names_height + plan->maps_height() + 10 + plan->note.height(),
                         plan->names_height + plan->bar->height());
  body.draw = [plan](Canvas& canvas, Point at) { draw_sheet_plan(canvas, *plan, at); };
  return body;
}

}  // namespace fovea
