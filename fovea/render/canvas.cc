#include "fovea/render/canvas.h"

#include <fmt/format.h>
#include <hb-ot.h>
#include <pango/pangocairo.h>

#include <algorithm>
#include <memory>
#include <numbers>
#include <optional>

#include "fovea/base/cancel.h"
#include "fovea/base/error.h"
#include "fovea/base/markup.h"
#include "fovea/figure/checks.h"
#include "fovea/figure/running_text.h"
#include "fovea/render/fonts.h"

namespace fovea {
namespace {

bool has_color_glyphs(PangoFont* font) {
  hb_face_t* face = hb_font_get_face(pango_font_get_hb_font(font));
  return hb_ot_color_has_png(face) != 0 || hb_ot_color_has_layers(face) != 0 ||
         hb_ot_color_has_svg(face) != 0;
}

// Calls visit(iterator, run) for each stretch of one font.
template <typename Visit>
void for_each_run(PangoLayout* layout, const Visit& visit) {
  const std::unique_ptr<PangoLayoutIter, decltype(&pango_layout_iter_free)> place(
      pango_layout_get_iter(layout), pango_layout_iter_free);
  do {
    PangoLayoutRun* run = pango_layout_iter_get_run_readonly(place.get());
    if (run != nullptr && run->item->analysis.font != nullptr) visit(place.get(), *run);
  } while (pango_layout_iter_next_run(place.get()));
}

std::optional<Rgb> own_color(const PangoLayoutRun& run) {
  for (const GSList* item = run.item->analysis.extra_attrs; item != nullptr; item = item->next) {
    const auto* attribute = static_cast<PangoAttribute*>(item->data);
    if (attribute->klass->type != PANGO_ATTR_FOREGROUND) continue;
    const PangoColor& color = reinterpret_cast<const PangoAttrColor*>(attribute)->color;
    return Rgb{static_cast<uint8_t>(color.red >> 8), static_cast<uint8_t>(color.green >> 8),
               static_cast<uint8_t>(color.blue >> 8)};
  }
  return std::nullopt;
}

std::string without_quotes(std::string name) {
  std::erase(name, '\'');
  return name;
}

// A stretch of one font as an element of SVG. Its length is given too, so that it keeps its place
// where the font is another.
std::string text_element(std::string_view text, const PangoLayoutRun& run, Point begin,
                         double width, Rgb color, const cairo_matrix_t& matrix) {
  const bool ellipsis = (run.item->analysis.flags & PANGO_ANALYSIS_FLAG_IS_ELLIPSIS) != 0;
  std::string_view said = ellipsis ? "\u2026"
                                   : text.substr(static_cast<size_t>(run.item->offset),
                                                 static_cast<size_t>(run.item->length));
  // Chips are drawn by whoever put their mark into the text.
  if (width <= 0 || said.find_first_not_of(" \n") == said.npos || said == kChipMark) return "";
  const PangoGlyphString& glyphs = *run.glyphs;
  const bool rtl = run.item->analysis.level % 2 != 0;
  const bool broken_here = glyphs.glyphs[rtl ? 0 : glyphs.num_glyphs - 1].geometry.width == 0;
  while (broken_here && said.ends_with(' ')) said.remove_suffix(1);
  if (rtl) begin.x += width;  // where it begins
  const std::unique_ptr<PangoFontDescription, decltype(&pango_font_description_free)> font(
      pango_font_describe_with_absolute_size(run.item->analysis.font), pango_font_description_free);
  const bool turned = matrix.xy != 0 || matrix.yx != 0;
  const Point shift = turned ? Point{} : Point{matrix.x0, matrix.y0};
  std::string place =
      fmt::format("x=\"{:.3f}\" y=\"{:.3f}\"", begin.x + shift.x, begin.y + shift.y);
  if (turned) {
    place += fmt::format(" transform=\"matrix({:.6f} {:.6f} {:.6f} {:.6f} {:.3f} {:.3f})\"",
                         matrix.xx, matrix.yx, matrix.xy, matrix.yy, matrix.x0, matrix.y0);
  }
  const int weight = pango_font_description_get_weight(font.get());
  return fmt::format(
      "<text {} textLength=\"{:.3f}\" lengthAdjust=\"spacingAndGlyphs\" "
      "font-family=\"'{}', sans-serif\" font-size=\"{:.3f}\"{}{} "
      "fill=\"#{:02x}{:02x}{:02x}\">{}</text>\n",
      place, width, escape_attribute(without_quotes(family_name(run.item->analysis.font))),
      static_cast<double>(pango_font_description_get_size(font.get())) / PANGO_SCALE,
      weight == PANGO_WEIGHT_NORMAL ? "" : fmt::format(" font-weight=\"{}\"", weight),
      rtl ? " direction=\"rtl\" unicode-bidi=\"embed\"" : "", color.red, color.green, color.blue,
      escape_text(said));
}

}  // namespace

void Canvas::set_color(Rgb color, double opacity) {
  check_cancelled();  // everything that is drawn goes through here
  cairo_set_source_rgba(context_, color.red / 255.0, color.green / 255.0, color.blue / 255.0,
                        opacity);
}

void Canvas::rounded_path(const Rect& rect, double radius) {
  constexpr double kPi = std::numbers::pi;
  const double r = std::min({radius, rect.width / 2, rect.height / 2});
  if (r <= 0) {
    cairo_rectangle(context_, rect.x, rect.y, rect.width, rect.height);
    return;
  }
  cairo_new_sub_path(context_);
  cairo_arc(context_, rect.x + rect.width - r, rect.y + r, r, -kPi / 2, 0);
  cairo_arc(context_, rect.x + rect.width - r, rect.y + rect.height - r, r, 0, kPi / 2);
  cairo_arc(context_, rect.x + r, rect.y + rect.height - r, r, kPi / 2, kPi);
  cairo_arc(context_, rect.x + r, rect.y + r, r, kPi, 3 * kPi / 2);
  cairo_close_path(context_);
}

void Canvas::stroke(const Stroke& stroke) {
  set_color(stroke.color, stroke.opacity);
  cairo_set_line_width(context_, stroke.width);
  cairo_set_dash(context_, stroke.dashes.data(), static_cast<int>(stroke.dashes.size()), 0);
  cairo_stroke(context_);
}

void Canvas::fill(const Rect& rect, Rgb color, double opacity) {
  set_color(color, opacity);
  cairo_rectangle(context_, rect.x, rect.y, rect.width, rect.height);
  cairo_fill(context_);
}

void Canvas::fill_rounded(const Rect& rect, double radius, Rgb color) {
  rounded_path(rect, radius);
  set_color(color);
  cairo_fill(context_);
}

void Canvas::outline(const Rect& rect, const Stroke& how, double radius) {
  rounded_path(rect, radius);
  stroke(how);
}

void Canvas::line(Point from, Point to, const Stroke& how) {
  cairo_move_to(context_, from.x, from.y);
  cairo_line_to(context_, to.x, to.y);
  stroke(how);
}

void Canvas::ribbon(Point from, Point to, const Stroke& how) {
  const double bend = (to.x - from.x) * 0.35;
  cairo_move_to(context_, from.x, from.y);
  cairo_curve_to(context_, from.x + bend, from.y, to.x - bend, to.y, to.x, to.y);
  stroke(how);
}

void Canvas::polygon(const std::vector<Point>& points, Rgb color) {
  for (const Point& point : points) cairo_line_to(context_, point.x, point.y);
  cairo_close_path(context_);
  set_color(color);
  cairo_fill(context_);
}

void Canvas::polylines(const std::vector<std::vector<Point>>& lines, const Stroke& how) {
  for (const auto& points : lines) {
    cairo_new_sub_path(context_);
    for (const Point& point : points) cairo_line_to(context_, point.x, point.y);
  }
  cairo_save(context_);
  cairo_set_line_cap(context_, CAIRO_LINE_CAP_SQUARE);  // pieces that meet at a corner fill it
  stroke(how);
  cairo_restore(context_);
}

void Canvas::hatch(const std::vector<Rect>& rects) {
  if (rects.empty()) return;
  constexpr double kPeriod = 5;
  double left = rects[0].x;
  double top = rects[0].y;
  double right = left;
  double bottom = top;
  cairo_save(context_);
  cairo_set_antialias(context_, CAIRO_ANTIALIAS_NONE);
  for (const Rect& rect : rects) {
    left = std::min(left, rect.x);
    top = std::min(top, rect.y);
    right = std::max(right, rect.x + rect.width);
    bottom = std::max(bottom, rect.y + rect.height);
    cairo_rectangle(context_, rect.x, rect.y, rect.width, rect.height);
  }
  set_color(kHatchGround);
  cairo_fill_preserve(context_);
  cairo_clip(context_);
  cairo_set_antialias(context_, CAIRO_ANTIALIAS_DEFAULT);
  const double height = bottom - top;
  for (double x = left - height; x < right; x += kPeriod) {
    cairo_move_to(context_, x, bottom);
    cairo_line_to(context_, x + height, top);
  }
  stroke({.color = kHatchLine, .width = 1});
  cairo_restore(context_);
}

CanvasPicture::CanvasPicture(const CellImage& image, bool smooth)
    : width_(image.width), height_(image.height), smooth_(smooth) {
  if (width_ < 1 || height_ < 1 || width_ > kLongestDrawing || height_ > kLongestDrawing) {
    fail(ErrorKind::kInvalidArgument,
         "a map of {} x {} cells cannot be one picture, which holds {} a side; draw a part of it",
         width_, height_, kLongestDrawing);
  }
  const int width = static_cast<int>(width_);
  const int height = static_cast<int>(height_);
  surface_ = {cairo_image_surface_create(CAIRO_FORMAT_ARGB32, width, height),
              cairo_surface_destroy};
  unsigned char* rows = cairo_image_surface_get_data(surface_.get());
  if (rows == nullptr) {
    fail(ErrorKind::kOutOfMemory, "there is no memory for a picture of {} x {}; draw a part of it",
         width, height);
  }
  const int stride = cairo_image_surface_get_stride(surface_.get());
  for (int y = 0; y < height; ++y) {
    std::copy_n(image.pixels.data() + int64_t{y} * width, width,
                reinterpret_cast<uint32_t*>(rows + int64_t{y} * stride));
  }
  cairo_surface_mark_dirty(surface_.get());
}

void Canvas::picture(const CanvasPicture& picture, const Rect& where, double opacity) {
  if (std::ranges::find(pictures_, picture.surface(), &CanvasPicture::surface) == pictures_.end()) {
    pictures_.push_back(picture);
  }
  Point corner{where.x, where.y};
  if (text_as_ == TextAs::kPixels) {  // on the pixel grid, so that each cell keeps its whole pixels
    cairo_user_to_device(context_, &corner.x, &corner.y);
    corner = on_grid(corner);
    cairo_device_to_user(context_, &corner.x, &corner.y);
  }
  const auto width = static_cast<double>(picture.width());
  const auto height = static_cast<double>(picture.height());
  cairo_save(context_);
  cairo_translate(context_, corner.x, corner.y);
  cairo_scale(context_, where.width / width, where.height / height);
  cairo_set_source_surface(context_, picture.surface(), 0, 0);
  cairo_pattern_t* pattern = cairo_get_source(context_);
  cairo_pattern_set_filter(pattern, picture.smooth() ? CAIRO_FILTER_GOOD : CAIRO_FILTER_NEAREST);
  if (picture.smooth()) cairo_pattern_set_extend(pattern, CAIRO_EXTEND_PAD);
  cairo_rectangle(context_, 0, 0, width, height);
  if (opacity < 1) {
    cairo_clip(context_);
    cairo_paint_with_alpha(context_, opacity);
  } else {
    cairo_fill(context_);
  }
  cairo_restore(context_);
}

void Canvas::gradient(const Rect& rect, const ColorMap& colors, bool upwards) {
  constexpr int kStops = 32;
  cairo_pattern_t* pattern = upwards
                                 ? cairo_pattern_create_linear(0, rect.y + rect.height, 0, rect.y)
                                 : cairo_pattern_create_linear(rect.x, 0, rect.x + rect.width, 0);
  for (int i = 0; i <= kStops; ++i) {
    const double position = static_cast<double>(i) / kStops;
    const Rgb color = colors.at(position);
    cairo_pattern_add_color_stop_rgb(pattern, position, color.red / 255.0, color.green / 255.0,
                                     color.blue / 255.0);
  }
  cairo_set_source(context_, pattern);
  cairo_rectangle(context_, rect.x, rect.y, rect.width, rect.height);
  cairo_fill(context_);
  cairo_pattern_destroy(pattern);
}

void Canvas::show(const TextBlock& block, Point at, Rgb color) {
  PangoLayout* layout = block.layout();
  for_each_run(layout, [&](PangoLayoutIter*, const PangoLayoutRun& run) {
    families_.insert(family_name(run.item->analysis.font));
  });
  set_color(color);
  if (text_as_ == TextAs::kGlyphs) {
    cairo_move_to(context_, at.x, at.y);
    pango_cairo_show_layout(context_, layout);
    cairo_new_path(context_);
    return;
  }
  for_each_run(layout, [&](PangoLayoutIter* place, PangoLayoutRun& run) {
    PangoRectangle where;
    pango_layout_iter_get_run_extents(place, nullptr, &where);
    const Point begin{
        at.x + static_cast<double>(where.x) / PANGO_SCALE,
        at.y + static_cast<double>(pango_layout_iter_get_run_baseline(place)) / PANGO_SCALE};
    const Rgb ink = own_color(run).value_or(color);
    if (text_as_ == TextAs::kElements) {
      cairo_matrix_t matrix;
      cairo_get_matrix(context_, &matrix);
      svg_text_ += text_element(pango_layout_get_text(layout), run, begin,
                                static_cast<double>(where.width) / PANGO_SCALE, ink, matrix);
      return;
    }
    cairo_move_to(context_, begin.x, begin.y);
    set_color(ink);
    if (has_color_glyphs(run.item->analysis.font)) {
      pango_cairo_show_glyph_string(context_, run.item->analysis.font, run.glyphs);
    } else {
      pango_cairo_glyph_string_path(context_, run.item->analysis.font, run.glyphs);
      cairo_fill(context_);
    }
    cairo_new_path(context_);
  });
}

void Canvas::text(const TextBlock& block, Point at) {
  text(block, at, block.style().color);
}

void Canvas::text(const TextBlock& block, Point at, Rgb color) {
  if (!block.empty()) show(block, at, color);
}

void Canvas::rotated_text(const TextBlock& block, Point at, double degrees) {
  if (block.empty()) return;
  cairo_save(context_);
  cairo_translate(context_, at.x, at.y);
  cairo_rotate(context_, -degrees * std::numbers::pi / 180);
  show(block, {0, -block.baseline()}, block.style().color);
  cairo_restore(context_);
}

}  // namespace fovea
