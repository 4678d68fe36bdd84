// Whole maps of pictures in files: in parts, and along a path with its key.
#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "fovea/figure/color_axis.h"
#include "fovea/render/figure_file.h"
#include "fovea/render/overlay.h"
#include "fovea/vision/decode.h"

namespace fovea {
namespace {

Picture drawn_png(const Figure& figure) {
  const std::string png = encode_figure(FigureFormat::kPng, figure, {}).bytes;
  return decode_picture(Bytes(reinterpret_cast<const std::byte*>(png.data()), png.size()), "png")
      .picture;
}

bool is_in(const Picture& picture, Rgb wanted, int apart) {
  for (size_t i = 0; i + 2 < picture.bytes.size(); i += 3) {
    if (std::abs(picture.bytes[i] - wanted.red) <= apart &&
        std::abs(picture.bytes[i + 1] - wanted.green) <= apart &&
        std::abs(picture.bytes[i + 2] - wanted.blue) <= apart) {
      return true;
    }
  }
  return false;
}

TEST(DrawParts, HasABarOfTheColoursOverThePictureAndAFrameOnEveryPart) {
  ImageFigure figure{.picture = Picture(40, 30, {120, 90, 60}),
                     .panels_across = 2,
                     .scale = {1, 32, ScaleCurve::kLog, /*times_even=*/true},
                     .contour_mass = 0,
                     .layout = ImageLayout::kParts};
  for (int64_t part = 0; part < 4; ++part) {
    figure.panels.push_back({.weights = Tensor({30, 40}),
                             .part = ImageBox{.left = 0.5 * double(part % 2),
                                              .top = 0.5 * double(part / 2),
                                              .right = 0.5 * double(part % 2) + 0.5,
                                              .bottom = 0.5 * double(part / 2) + 0.5}});
  }
  const Picture drawn = drawn_png(figure);
  const ColorMap bar = colors_of_bar(figure, colors_of(figure));
  for (const ColorTick& tick : ColorAxis(bar, figure.scale).ticks(7)) {
    if (tick.place < 0.02 || tick.place > 0.98) continue;  // the line around the bar
    EXPECT_TRUE(is_in(drawn, bar.at(tick.place), 3)) << tick.text;
  }
  EXPECT_TRUE(is_in(drawn, {120, 90, 60}, 2)) << "the picture itself stands beside the parts";
  EXPECT_LT(drawn.width, 4000);
  for (const FigureFormat format : {FigureFormat::kSvg, FigureFormat::kPdf}) {
    EXPECT_GT(encode_figure(format, figure, {}).bytes.size(), 1000U);
  }
}

TEST(DrawLongMatrix, AlongAPathHasAKeyWithItsPicture) {
  MatrixFigure figure{.rows = numbered_axis("cells", 64),
                      .cols = numbered_axis("cells", 64),
                      .weights = Tensor({64, 64}),
                      .scale = {1.0 / 32, 32, ScaleCurve::kLog, /*times_even=*/true}};
  figure.overview = MapOverview{};
  const Picture without = drawn_png(figure);
  PathKey key{.rows = 8, .cols = 8, .picture = Picture(16, 16, {20, 200, 20})};
  for (int64_t cell = 0; cell < 64; ++cell) key.section.push_back(cell / 4);
  figure.overview->path = key;
  for (int64_t section = 0; section < PathKey::kSections; ++section) {
    figure.overview->row_names.push_back({double(4 * section), PathKey::letter(section)});
  }
  const Picture drawn = drawn_png(figure);
  EXPECT_GE(drawn.width, without.width);
  EXPECT_TRUE(is_in(drawn, mix({20, 200, 20}, {0, 0, 0}, 0.45), 2));
  EXPECT_FALSE(is_in(without, mix({20, 200, 20}, {0, 0, 0}, 0.45), 2));
  figure.overview->path->picture = {};
  EXPECT_FALSE(is_in(drawn_png(figure), mix({20, 200, 20}, {0, 0, 0}, 0.45), 2));
}

}  // namespace
}  // namespace fovea
