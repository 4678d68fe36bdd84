// The terminal's cells and its colour bar have the colours that pictures give the values.
#include <gtest/gtest.h>

#include <regex>

#include "fovea/cli/draw/draw.h"
#include "fovea/figure/color_axis.h"
#include "fovea/figure/picture_tone.h"
#include "unit/cli/drawn_text.h"

namespace fovea {
namespace {

constexpr int64_t kSide = 66;

std::vector<ColorScale> scales_of_terminals() {
  return {{0, 1},
          {0, 0.03},
          {-2, 2},
          {0, 0.4, ScaleCurve::kSqrt},
          {1e-5, 1, ScaleCurve::kLog},
          {1.0 / 32, 32, ScaleCurve::kLog, /*times_even=*/true},
          {0, 8, ScaleCurve::kLinear, /*times_even=*/true}};
}

// Values in no order, along the scale and beyond its ends.
MatrixFigure scattered_figure(const ColorScale& scale) {
  MatrixFigure figure{.rows = numbered_axis("tokens", kSide),
                      .cols = numbered_axis("tokens", kSide),
                      .scale = scale};
  constexpr int64_t kCells = kSide * kSide;
  std::vector<float> values;
  for (int64_t i = 0; i < kCells; ++i) {
    const double place = -0.1 + 1.2 * static_cast<double>(i * 1789 % kCells) / (kCells - 1);
    values.push_back(static_cast<float>(value_at(scale, std::max(place, 0.0))));
  }
  figure.weights = Tensor::from({kSide, kSide}, values);
  return figure;
}

// What is written with two colours in each character, in its order.
std::vector<std::string> half_blocks(const std::string& drawn) {
  static const std::regex cell("\x1b\\[38;[0-9;]*;48;[0-9;]*m▀\x1b\\[0m");
  return {std::sregex_token_iterator(drawn.begin(), drawn.end(), cell), {}};
}

// Every cell is in its place: of two rows that share a line the upper one is the ink, the lower one
// the ground.
TEST(TerminalColors, OfEveryCellAreThoseOfThePlaceOfItsValue) {
  for (const ColorMode mode : {ColorMode::k256, ColorMode::kTrue}) {
    const Terminal terminal{.width = 100, .colors = mode};
    for (const ColorScale& scale : scales_of_terminals()) {
      for (const bool overview : {false, true}) {
        MatrixFigure figure = scattered_figure(scale);
        if (overview) figure.overview = MapOverview{};
        const ColorMap& colors = colors_of(figure);
        const std::vector<std::string> cells = half_blocks(draw(figure, terminal, colors));
        ASSERT_EQ(cells.size(), size_t{kSide / 2 * kSide}) << overview;
        const auto color = [&](int64_t r, int64_t c) {
          const double place = place_on(scale, double{figure.weights.matrix<float>()(r, c)});
          return colors.at(std::clamp(place, 0.0, 1.0));
        };
        for (int64_t r = 0; r < kSide; r += 2) {
          for (int64_t c = 0; c < kSide; ++c) {
            ASSERT_EQ(cells[size_t(r / 2 * kSide + c)],
                      terminal.painted(color(r, c), color(r + 1, c), "▀"))
                << "row " << r << ", column " << c << " of " << scale.low << " to " << scale.high;
          }
        }
      }
    }
  }
}

// A bar of so many steps begins with the colour of its lower end and ends with that of its upper
// one, and between them goes on in equal steps.
TEST(TerminalColors, OfTheBarAreThoseOfThePlacesAlongIt) {
  static const std::regex step("\x1b\\[38;[0-9;]*;48;[0-9;]*m \x1b\\[0m");
  const Terminal terminal{.width = 100, .colors = ColorMode::kTrue};
  for (const ColorScale& scale : scales_of_terminals()) {
    MatrixFigure figure = scattered_figure(scale);
    figure.overview = MapOverview{};
    const ColorMap& colors = colors_of(figure);
    const std::string drawn = draw(figure, terminal, colors);
    const std::vector<std::string> bar{std::sregex_token_iterator(drawn.begin(), drawn.end(), step),
                                       {}};
    // Where a curve or times even has a number in its middle, 41 steps less those of the number.
    const bool has_middle = scale.curve != ScaleCurve::kLinear || scale.times_even;
    const size_t steps = has_middle ? 41 : 20, half = has_middle ? 12 : 20;
    ASSERT_GE(bar.size(), half);
    for (size_t i = 0; i < half; ++i) {
      const double place = static_cast<double>(i) / static_cast<double>(steps - 1);
      EXPECT_EQ(bar[i], terminal.on(colors.at(place), " ")) << i << " of " << scale.high;
      if (has_middle) {
        EXPECT_EQ(bar[bar.size() - 1 - i], terminal.on(colors.at(1 - place), " "));
      }
    }
    const std::string plain = without_colors(drawn);
    for (const double end : {scale.low, scale.high}) {
      if (!has_middle) continue;
      EXPECT_NE(plain.find(scale_text(scale, end)), std::string::npos) << end;
    }
  }
}

// What switches a colour on.
std::string code_of(const Terminal& terminal, Rgb color) {
  const std::string text = terminal.ink(color, "X");
  return text.substr(2, text.find('m') - 2);
}

TEST(TerminalColors, OfAPictureAreThoseOfItsLegend) {
  const Terminal terminal{.width = 100, .colors = ColorMode::kTrue};
  const ColorScale scale{1, 32, ScaleCurve::kLog, /*times_even=*/true};
  for (const double place : {0.1, 0.35, 0.8, 1.0}) {
    // One grey is nearly black, as the darkest of any picture.
    ImageFigure figure{.picture = Picture(40, 40, {128, 128, 128}), .scale = scale};
    figure.panels.push_back(
        {"head 0",
         Tensor::from({1, 2}, std::vector<float>{1, static_cast<float>(value_at(scale, place))})});
    const Tint tint = tint_of(inferno(), place, false);
    const std::string drawn = draw(figure, terminal, inferno());
    EXPECT_NE(drawn.find(code_of(terminal, mix({20, 20, 20}, tint.color, tint.cover))),
              std::string::npos)
        << place;
    const Rgb key = colors_over_ground(inferno(), false).at(1);
    EXPECT_NE(drawn.find(code_of(terminal, key).substr(3)), std::string::npos);
  }
}

}  // namespace
}  // namespace fovea
