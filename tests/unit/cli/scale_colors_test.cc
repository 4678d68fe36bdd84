// The terminal's cells have the colours that pictures give their values.
#include <gtest/gtest.h>

#include "fovea/cli/draw/draw.h"
#include "fovea/figure/color_axis.h"
#include "unit/cli/drawn_text.h"

namespace fovea {
namespace {

// What switches a colour on.
std::string code_of(const Terminal& terminal, Rgb color) {
  const std::string text = terminal.ink(color, "X");
  return text.substr(2, text.find('m') - 2);
}

TEST(TerminalColors, AreThoseOfThePlacesOfTheValues) {
  const std::vector<ColorScale> scales = {{0, 1},
                                          {0, 0.4, ScaleCurve::kSqrt},
                                          {1e-5, 1, ScaleCurve::kLog},
                                          {1.0 / 32, 32, ScaleCurve::kLog, /*times_even=*/true}};
  for (const ColorMode mode : {ColorMode::k256, ColorMode::kTrue}) {
    const Terminal terminal{.width = 100, .colors = mode};
    for (const ColorScale& scale : scales) {
      for (const bool overview : {false, true}) {
        const int64_t side = 66;
        MatrixFigure figure{.rows = numbered_axis("tokens", side),
                            .cols = numbered_axis("tokens", side),
                            .scale = scale};
        std::vector<float> values;
        for (int64_t i = 0; i < side * side; ++i) {
          values.push_back(
              static_cast<float>(value_at(scale, double(i) / double(side * side - 1))));
        }
        figure.weights = Tensor::from({side, side}, values);
        if (overview) figure.overview = MapOverview{};
        const std::string drawn = draw(figure, terminal, inferno());
        for (int64_t r = 0; r < side; r += 2) {  // the upper half of a line is its ink
          for (int64_t c = 0; c < side; ++c) {
            const float value = figure.weights.matrix<float>()(r, c);
            const Rgb color = inferno().at(std::clamp(place_on(scale, double{value}), 0.0, 1.0));
            ASSERT_NE(drawn.find(code_of(terminal, color)), std::string::npos) << value;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace fovea
