// What a picture's cells and its colour bar have in common: the colours of their values.
#include <gtest/gtest.h>

#include <set>

#include "fovea/figure/color_axis.h"
#include "fovea/render/figure_file.h"
#include "fovea/vision/decode.h"

namespace fovea {
namespace {

int steps_apart(Rgb a, Rgb b) {
  return std::max(
      {std::abs(a.red - b.red), std::abs(a.green - b.green), std::abs(a.blue - b.blue)});
}

std::vector<Rgb> colors_in(const Figure& figure) {
  const std::string png = encode_figure(FigureFormat::kPng, figure, {}).bytes;
  const Picture picture =
      decode_picture(Bytes(reinterpret_cast<const std::byte*>(png.data()), png.size()), "png")
          .picture;
  std::set<std::tuple<int, int, int>> seen;
  std::vector<Rgb> colors;
  for (int64_t y = 0; y < picture.height; ++y) {
    for (int64_t x = 0; x < picture.width; ++x) {
      const Rgb color = picture.at(x, y);
      if (seen.insert({color.red, color.green, color.blue}).second) colors.push_back(color);
    }
  }
  return colors;
}

bool has_color(const std::vector<Rgb>& colors, Rgb wanted, int apart) {
  return std::ranges::any_of(colors,
                             [&](Rgb color) { return steps_apart(color, wanted) <= apart; });
}

std::vector<ColorScale> scales() {
  return {{0, 1},
          {0, 0.03},
          {-2, 2},
          {0, 0.4, ScaleCurve::kSqrt},
          {1e-5, 1, ScaleCurve::kLog},
          {1.0 / 32, 32, ScaleCurve::kLog, /*times_even=*/true},
          {0, 8, ScaleCurve::kLinear, /*times_even=*/true}};
}

// Values along the scale, and beyond its ends.
std::vector<float> values_of(const ColorScale& scale, size_t count) {
  std::vector<float> values;
  for (size_t i = 0; i < count; ++i) {
    const double place = -0.1 + 1.2 * static_cast<double>(i) / static_cast<double>(count - 1);
    values.push_back(static_cast<float>(value_at(scale, std::max(place, 0.0) == 0 ? 0 : place)));
  }
  return values;
}

MatrixFigure figure_of(const ColorScale& scale, int64_t side, bool overview) {
  MatrixFigure figure{
      .rows = numbered_axis("tokens", side), .cols = numbered_axis("tokens", side), .scale = scale};
  figure.weights = Tensor::from({side, side}, values_of(scale, static_cast<size_t>(side * side)));
  if (overview) figure.overview = MapOverview{};
  return figure;
}

// Small maps are rectangles, large ones pictures; both have the colour of place_on() to the bit.
TEST(ScaleColors, CellsHaveTheColoursOfTheirPlacesOnEveryScale) {
  for (const ColorScale& scale : scales()) {
    for (const auto& [side, overview] :
         {std::pair(13, false), std::pair(70, false), std::pair(70, true)}) {
      const MatrixFigure figure = figure_of(scale, side, overview);
      const ColorMap& map = colors_of(figure);
      const std::vector<Rgb> colors = colors_in(figure);
      for (const float value : figure.weights.values<float>()) {
        ASSERT_TRUE(has_color(colors, map.at(place_on(scale, double{value})), 0))
            << value << " of " << scale.low << " to " << scale.high;
      }
    }
  }
}

// A map of one value has few colours; the others are those of the bar, where ticks stand.
TEST(ScaleColors, TheBarHasTheColoursOfItsTicks) {
  for (const ColorScale& scale : scales()) {
    MatrixFigure figure = figure_of(scale, 8, false);
    for (float& value : figure.weights.mutable_values<float>())
      value = static_cast<float>(scale.high);
    const ColorMap& map = colors_of(figure);
    const std::vector<Rgb> colors = colors_in(figure);
    for (const ColorTick& tick : ColorAxis(map, scale).ticks(7)) {
      ASSERT_TRUE(has_color(colors, map.at(tick.place), 3)) << tick.text;  // a pixel is 1/300
    }
  }
}

}  // namespace
}  // namespace fovea
