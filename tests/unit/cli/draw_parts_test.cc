// Whole maps of pictures in the terminal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fovea/base/utf8.h"
#include "fovea/cli/draw/draw.h"
#include "unit/cli/drawn_text.h"

namespace fovea {
namespace {

using ::testing::HasSubstr;

// Eight by eight parts, each of which looks at itself alone.
ImageFigure parts_of_themselves() {
  ImageFigure figure{.picture = Picture(40, 30, {120, 90, 60}),
                     .panels_across = 8,
                     .scale = {1, 32, ScaleCurve::kLog, /*times_even=*/true},
                     .contour_mass = 0,
                     .layout = ImageLayout::kParts};
  for (int64_t part = 0; part < 64; ++part) {
    Tensor weights({64, 64});
    const int64_t down = part / 8, across = part % 8;
    for (int64_t r = 0; r < 8; ++r) {
      for (int64_t c = 0; c < 8; ++c) {
        weights.mutable_matrix<float>()(8 * down + r, 8 * across + c) = 64;
      }
    }
    figure.panels.push_back({.weights = std::move(weights),
                             .part = ImageBox{.left = double(across) / 8,
                                              .top = double(down) / 8,
                                              .right = double(across + 1) / 8,
                                              .bottom = double(down + 1) / 8}});
  }
  return figure;
}

TEST(DrawParts, AreAsWideAsTheTerminalAtMostWithEachPartWhereItIs) {
  const ImageFigure figure = parts_of_themselves();
  for (const int width : {40, 80, 100, 160}) {
    for (const ColorMode mode : kModes) {
      const std::string drawn = draw(figure, {.width = width, .colors = mode}, inferno());
      const std::vector<std::string> lines = lines_of(without_colors(drawn));
      for (const std::string& line : lines) EXPECT_LE(display_width(line), width) << line;
      if (mode == ColorMode::kNone) EXPECT_THAT(drawn, HasSubstr("+"));
    }
  }
}

TEST(DrawMatrix, AlongAPathNamesItsSectionsAndSaysWhereTheyLie) {
  MatrixFigure figure{.rows = numbered_axis("cells", 64),
                      .cols = numbered_axis("cells", 64),
                      .weights = Tensor({64, 64}),
                      .scale = {1.0 / 32, 32, ScaleCurve::kLog, /*times_even=*/true}};
  MapOverview overview{.path = PathKey{.rows = 8, .cols = 8}};
  for (int64_t cell = 0; cell < 64; ++cell) {
    overview.path->section.push_back(cell / 16 * 4 + cell % 8 / 2);
  }
  for (int64_t section = 0; section < PathKey::kSections; ++section) {
    overview.row_names.push_back({double(4 * section), PathKey::letter(section)});
  }
  figure.overview = overview;
  const std::string drawn =
      without_colors(draw(figure, {.width = 100, .colors = ColorMode::kTrue}, inferno()));
  EXPECT_THAT(drawn, HasSubstr("A   B   C   D   E"));
  EXPECT_THAT(drawn, HasSubstr("  AABBCCDD\n  EEFFGGHH\n  IIJJKKLL\n  MMNNOOPP\n"));
  EXPECT_THAT(lines_of(drawn),
              ::testing::Contains(::testing::StartsWith(std::string(19, ' ') + "A ")))
      << "the first section is named too";
}

}  // namespace
}  // namespace fovea
