#include "fovea/figure/figure.h"

#include <fmt/format.h>

#include <type_traits>

namespace fovea {
namespace {

std::string_view suiting_colors(const Figure& figure) {
  return std::visit(
      [](const auto& each) -> std::string_view {
        using Kind = std::decay_t<decltype(each)>;
        constexpr bool on_text = std::is_same_v<Kind, ReadFigure> ||
                                 std::is_same_v<Kind, ReadingFigure> ||
                                 std::is_same_v<Kind, StepsFigure>;
        if constexpr (requires { each.scale; }) {
          // Blank is little, and ink is where weight is.
          constexpr bool on_picture = std::is_same_v<Kind, ImageFigure>;
          if (each.scale.times_even && !on_picture) return "paper";
          if (each.scale.low < 0 && each.scale.high > 0) return "RdBu";
        }
        return on_text ? "paper" : "inferno";
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
      figure.smooth ? "smoothed between their centres" : "one colour each");
  if (figure.contour_mass > 0) {
    text += figure.contour_mass < 1
                ? fmt::format(" The line holds {:g} % of the mass.", figure.contour_mass * 100)
                : " The line goes around what is shown.";
  }
  if (!panel->rings.empty()) {
    text += " The rings hold 50 % (solid) and 90 % (dotted) of what lies on patches.";
  }
  return text;
}

}  // namespace fovea
