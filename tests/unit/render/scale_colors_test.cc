// What a picture's cells and its colour bar have in common: the colours of their values.
#include <gtest/gtest.h>

#include <set>

#include "fovea/figure/color_axis.h"
#include "fovea/figure/picture_tone.h"
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

// Grey columns are not on the scale of the others.
TEST(ScaleColors, GreyColumnsHaveTheColoursOfAScaleFromZeroToOne) {
  MatrixFigure figure = figure_of({0, 0.1}, 3, false);
  figure.grey = {1};
  figure.grey_name = "to [CLS]";
  auto weights = figure.weights.mutable_values<float>();
  weights[1] = 0.8F;
  weights[4] = 0.3F;
  const std::vector<Rgb> colors = colors_in(figure);
  EXPECT_TRUE(has_color(colors, grey_colors().at(double{weights[1]}), 0));
  EXPECT_TRUE(has_color(colors, grey_colors().at(double{weights[4]}), 0));
  EXPECT_TRUE(
      has_color(colors, colors_of(figure).at(place_on(figure.scale, double{weights[0]})), 0));
}

// A picture whose right part has the lightness that the bar's colours are shown over.
ImageFigure over_middling_grey(const ColorScale& scale, float value) {
  ImageFigure figure{.picture = Picture(60, 10), .scale = scale, .layout = ImageLayout::kPanels};
  for (int64_t y = 0; y < 10; ++y) {
    for (int64_t x = 18; x < 60; ++x) {
      const uint8_t level = x < 36 ? 255 : 128;
      figure.picture.set(x, y, {level, level, level});
    }
  }
  figure.contour_mass = 0;
  figure.panels_across = 1;
  const auto none = static_cast<float>(scale.is_signed() ? 0 : scale.low);
  figure.panels.push_back(
      {"head 0", Tensor::from({1, 5}, std::vector<float>{none, none, none, value, value})});
  return figure;
}

int64_t pixels_with(const Picture& picture, Rgb wanted, int apart) {
  int64_t count = 0;
  for (int64_t y = 0; y < picture.height; ++y) {
    for (int64_t x = 0; x < picture.width; ++x) {
      if (steps_apart(picture.at(x, y), wanted) <= apart) ++count;
    }
  }
  return count;
}

TEST(ScaleColors, APatchOfAPictureHasTheColourOfTheBarAtItsPlace) {
  const std::vector<ColorScale> over_pictures = {
      {1, 32, ScaleCurve::kLog, /*times_even=*/true},
      {1, 8, ScaleCurve::kLog, /*times_even=*/true},
      {0, 0.4},
      {-2, 2},
      {.low = -3.2, .high = 3.2, .curve = ScaleCurve::kSignedLog, .least = 0.1}};
  constexpr int64_t kPatchPixels = 20'000;  // more than a bar has of any colour
  for (const ColorScale& scale : over_pictures) {
    for (const double place : {0.0, 0.03, 0.1, 0.35, 0.5, 0.8, 1.0}) {
      const auto value = static_cast<float>(value_at(scale, place));
      const ImageFigure figure = over_middling_grey(scale, value);
      const std::string png = encode_figure(FigureFormat::kPng, figure, {}).bytes;
      const Picture drawn =
          decode_picture(Bytes(reinterpret_cast<const std::byte*>(png.data()), png.size()), "png")
              .picture;
      const Rgb wanted = colors_over_ground(colors_of(figure), scale.is_signed())
                             .at(place_on(scale, double{value}));
      EXPECT_GE(pixels_with(drawn, wanted, 2), kPatchPixels) << place << " of " << scale.high;
    }
  }
}

}  // namespace
}  // namespace fovea
