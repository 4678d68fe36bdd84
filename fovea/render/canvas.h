// The canvas of figures: the same strokes for PNG, SVG and PDF. Lengths are in units; a unit is a
// pixel of a PNG at scale 1, and 1/96 inch on paper. y grows downwards.
#pragma once

#include <cairo/cairo.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "fovea/figure/color_map.h"
#include "fovea/figure/geometry.h"
#include "fovea/figure/table.h"  // before the colours: TableTone has a kMuted too
#include "fovea/render/text_block.h"

namespace fovea {

// The colours of everything that is not data.
inline constexpr Rgb kInk{0x1b, 0x1b, 0x1f};
inline constexpr Rgb kMuted{0x62, 0x62, 0x6b};
inline constexpr Rgb kFaint{0xd8, 0xd8, 0xdd};
inline constexpr Rgb kAccent{0xd0, 0x1c, 0x2e};
inline constexpr Rgb kWhite{0xff, 0xff, 0xff};
inline constexpr Rgb kHatchGround{0xf3, 0xf3, 0xf5};
inline constexpr Rgb kPlainGround{0xea, 0xea, 0xf0};
inline constexpr Rgb kHatchLine{0xc2, 0xc2, 0xca};

struct Stroke {
  Rgb color = kInk;
  double width = 1;
  double opacity = 1;
  std::vector<double> dashes = {};
};

// Pixels with premultiplied alpha as cairo has them, 0xAARRGGBB.
struct CellImage {
  int64_t width = 0;
  int64_t height = 0;
  std::vector<uint32_t> pixels;
};
inline uint32_t opaque_pixel(Rgb color) {
  return 0xff000000U | static_cast<uint32_t>(color.red << 16 | color.green << 8 | color.blue);
}

inline uint32_t translucent_pixel(Rgb color, double opacity) {
  const auto part = [&](uint8_t value) { return static_cast<uint32_t>(value * opacity + 0.5); };
  return part(255) << 24 | part(color.red) << 16 | part(color.green) << 8 | part(color.blue);
}

// Pixels made ready to be drawn, once or many times; copies share them.
class CanvasPicture {
 public:
  CanvasPicture() = default;
  // Drawn with hard pixels, or smoothed. Throws Error{kInvalidArgument} if a side is too long.
  explicit CanvasPicture(const CellImage& image, bool smooth = false);

  int64_t width() const { return width_; }
  int64_t height() const { return height_; }
  bool smooth() const { return smooth_; }
  cairo_surface_t* surface() const { return surface_.get(); }

 private:
  std::shared_ptr<cairo_surface_t> surface_;
  int64_t width_ = 0;
  int64_t height_ = 0;
  bool smooth_ = false;
};

// How text is written.
enum class TextAs {
  kPixels,    // outlines, placed to a fraction of a pixel and the same with every FreeType
  kGlyphs,    // what cairo makes of it: text in PDF, outlines in SVG
  kElements,  // nothing is drawn: svg_text() has it
};

class Canvas {
 public:
  Canvas(cairo_t* context, TextAs text) : context_(context), text_as_(text) {}

  void fill(const Rect& rect, Rgb color, double opacity = 1);
  void fill_rounded(const Rect& rect, double radius, Rgb color);
  void outline(const Rect& rect, const Stroke& stroke, double radius = 0);
  void line(Point from, Point to, const Stroke& stroke);
  // Leaves and arrives horizontally.
  void ribbon(Point from, Point to, const Stroke& stroke);
  void polygon(const std::vector<Point>& points, Rgb color);
  // Unclosed paths of straight pieces, in one stroke.
  void polylines(const std::vector<std::vector<Point>>& lines, const Stroke& stroke);
  // Diagonal stripes that go on from one rectangle to the next.
  void hatch(const std::vector<Rect>& rects);
  void picture(const CanvasPicture& picture, const Rect& where, double opacity = 1);
  // Colours from the left end or the bottom upwards.
  void gradient(const Rect& rect, const ColorMap& colors, bool upwards);

  // `at` is the top left corner of the block.
  void text(const TextBlock& block, Point at);
  void text(const TextBlock& block, Point at, Rgb color);
  // `at` is where the baseline begins; the angle is in degrees, counter-clockwise.
  void rotated_text(const TextBlock& block, Point at, double degrees);

  // With kElements: <text> elements, which lie above everything that is drawn.
  const std::string& svg_text() const { return svg_text_; }
  const std::set<std::string>& families() const { return families_; }
  // Every picture that was drawn, in the order of its first time.
  const std::vector<CanvasPicture>& pictures() const { return pictures_; }

 private:
  void set_color(Rgb color, double opacity = 1);
  void rounded_path(const Rect& rect, double radius);
  void stroke(const Stroke& stroke);
  void show(const TextBlock& block, Point at, Rgb color);

  cairo_t* context_;
  TextAs text_as_;
  std::string svg_text_;
  std::set<std::string> families_;
  std::vector<CanvasPicture> pictures_;
};

inline constexpr TextStyle kPanelStyle{.size = 10.5, .color = kInk, .strong = true};
inline constexpr TextStyle kNoteStyle{.size = 10, .color = kMuted};    // below or beside a panel
inline constexpr TextStyle kNumberStyle{.size = 10, .color = kMuted};  // of an axis
inline constexpr TextStyle kKeyStyle{.size = 10.5, .color = kInk};

}  // namespace fovea
