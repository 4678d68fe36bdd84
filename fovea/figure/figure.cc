#include "fovea/figure/figure.h"

#include <fmt/format.h>

#include <type_traits>

#include "fovea/figure/contour.h"

namespace fovea {
namespace {

std::string_view suiting_colors(const Figure& figure) {
  return std::visit(
      [](const auto& each) -> std::string_view {
        using Kind = std::decay_t<decltype(each)>;
        constexpr bool on_picture = std::is_same_v<Kind, ImageFigure>;
        if constexpr (requires { each.scale; }) {
          if (each.scale.is_signed()) return on_picture ? "ice-fire" : "RdBu";
        }
        // Blank is little, and ink is where weight is; a picture's ground is dark.
        return on_picture ? "inferno" : "paper";
      },
      figure);
}

}  // namespace

bool are_numbers(const Axis& axis, AxisPlace place) {
  for (size_t i = 0; i < axis.positions.size(); ++i) {
    const std::string& text = axis.positions[i].text;
    const std::string number = std::to_string(place.of(static_cast<int64_t>(i)));
    if (text.substr(0, text.find("…")) != number) return false;
  }
  return true;
}

Axis numbered_axis(const char* name, int64_t count) {
  Axis axis{.name = name};
  for (int64_t i = 0; i < count; ++i) axis.positions.push_back({.text = std::to_string(i)});
  return axis;
}

Tensor as_tensor(const Matrix& matrix) {
  const std::vector<float> values(matrix.values().begin(), matrix.values().end());
  return Tensor::from({matrix.rows(), matrix.cols()}, values);
}

MatrixFigure as_matrix(const AlignFigure& figure) {
  return {.text = figure.text,
          .rows = figure.target,
          .cols = figure.source,
          .weights = figure.weights,
          .scale = figure.scale,
          .value_name = figure.value_name,
          .row_title = "target",
          .col_title = "source",
          .marks = figure.links};
}

const FigureText& text_in(const Figure& figure) {
  return std::visit([](const auto& each) -> const FigureText& { return each.text; }, figure);
}

const ColorMap& colors_of(const Figure& figure, std::string_view name) {
  return color_map(name.empty() ? suiting_colors(figure) : name);
}

std::string patches_note(const ImageFigure& figure) {
  const auto panel = std::ranges::find_if(
      figure.panels, [](const ImagePanel& each) { return !each.weights.empty(); });
  if (panel == figure.panels.end()) return "";
  std::string text = fmt::format(
      "{} \u00d7 {} {}, {}.", panel->weights.size(0), panel->weights.size(1), figure.grid_name,
      figure.smooth ? "smoothed: what lies between them was never computed" : "one colour each");
  if (figure.contour_mass == 1) return text + " The line goes around what is shown.";
  size_t maps = 0, lines = 0;
  for (const ImagePanel& each : figure.panels) {
    maps += each.weights.empty() ? 0 : 1;
    lines += contour_of(figure, each).empty() ? 0 : 1;
  }
  if (lines == 0) return text;
  const std::string share =
      figure.contour_mass == 0.5 ? "half" : fmt::format("{:g} %", figure.contour_mass * 100);
  return text + fmt::format(" The line holds {} of the weight{}.", share,
                            lines < maps ? ", where that is an area" : "");
}

}  // namespace fovea
