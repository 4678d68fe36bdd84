#include "fovea/render/surface.h"

#include <cairo/cairo-pdf.h>
#include <cairo/cairo-svg.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string_view>

#include "fovea/base/error.h"
#include "fovea/base/markup.h"
#include "fovea/base/utf8.h"
#include "fovea/figure/checks.h"
#include "fovea/render/png.h"

namespace fovea {
namespace {

constexpr double kMostArea = 1 << 28;  // 1 GiB of pixels
constexpr double kMostPoints = 14400;  // a side of a PDF page, by its standard
constexpr double kPointsPerUnit = 72.0 / 96;

using Surface = std::unique_ptr<cairo_surface_t, decltype(&cairo_surface_destroy)>;
using Context = std::unique_ptr<cairo_t, decltype(&cairo_destroy)>;

void check_size(double width, double height, double most, std::string_view what,
                std::string_view unit) {
  if (width <= most && height <= most) return;
  fail(ErrorKind::kInvalidArgument,
       "the figure has {:.0f} x {:.0f} {} but {} holds {:.0f} a side; draw a part, or at a smaller "
       "scale",
       width, height, unit, what, most);
}

void check_status(cairo_status_t status, std::string_view what) {
  if (status == CAIRO_STATUS_SUCCESS) return;
  fail(status == CAIRO_STATUS_NO_MEMORY ? ErrorKind::kOutOfMemory : ErrorKind::kInternal,
       "{} failed: {}", what, cairo_status_to_string(status));
}

// Appends to the string; no exception may pass through cairo.
cairo_status_t append(void* text, const unsigned char* data, unsigned int length) {
  try {
    static_cast<std::string*>(text)->append(reinterpret_cast<const char*>(data), length);
    return CAIRO_STATUS_SUCCESS;
  } catch (const std::exception&) {
    return CAIRO_STATUS_NO_MEMORY;
  }
}

// What a drawing used.
struct Used {
  std::set<std::string> families;
  std::vector<CanvasPicture> pictures;
  std::string svg_text;
};

Used draw_on(cairo_surface_t* surface, const Body& body, double scale, TextAs text) {
  const Context context(cairo_create(surface), cairo_destroy);
  cairo_scale(context.get(), scale, scale);
  Canvas canvas(context.get(), text);
  canvas.fill({0, 0, body.width, body.height}, kWhite);
  body.draw(canvas, {0, 0});
  check_status(cairo_status(context.get()), "drawing the figure");
  return {canvas.families(), canvas.pictures(), canvas.svg_text()};
}

Picture to_picture(cairo_surface_t* surface) {
  cairo_surface_flush(surface);
  const int width = cairo_image_surface_get_width(surface);
  const int height = cairo_image_surface_get_height(surface);
  const int stride = cairo_image_surface_get_stride(surface);
  const unsigned char* data = cairo_image_surface_get_data(surface);
  Picture image(width, height);
  uint8_t* out = image.bytes.data();
  for (int y = 0; y < height; ++y) {
    const auto* row = reinterpret_cast<const uint32_t*>(data + int64_t{y} * stride);
    for (int x = 0; x < width; ++x, out += 3) {
      out[0] = static_cast<uint8_t>(row[x] >> 16);
      out[1] = static_cast<uint8_t>(row[x] >> 8);
      out[2] = static_cast<uint8_t>(row[x]);
    }
  }
  return image;
}

bool is_name_letter(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
         (letter >= '0' && letter <= '9') || letter == '-' || letter == '_';
}

// cairo numbers its ids on from one surface to the next; here they are numbered as they come.
std::string with_plain_ids(const std::string& svg) {
  std::map<std::string, std::string> names;
  std::string result;
  result.reserve(svg.size());
  size_t from = 0;
  const auto starts_id = [&](size_t at) -> size_t {  // the length of what precedes an id
    for (const std::string_view mark : {" id=\"", "\"#", "(#"}) {
      if (svg.compare(at, mark.size(), mark) == 0) return mark.size();
    }
    return 0;
  };
  for (size_t at = 0; at < svg.size(); ++at) {
    if (svg[at] != ' ' && svg[at] != '"' && svg[at] != '(') continue;
    const size_t lead = starts_id(at);
    if (lead == 0) continue;
    size_t end = at + lead;
    while (end < svg.size() && is_name_letter(svg[end])) ++end;
    const std::string old = svg.substr(at + lead, end - at - lead);
    const auto& name = names.try_emplace(old, "f" + std::to_string(names.size())).first->second;
    result.append(svg, from, at + lead - from);
    result += name;
    from = end;
    at = end - 1;
  }
  return result.append(svg, from);
}

// cairo's SVG does not say which pictures have hard pixels, and viewers would blur them.
std::string with_hard_pixels(const std::string& svg, const std::vector<CanvasPicture>& pictures) {
  constexpr std::string_view kElement = "<image ";
  constexpr std::string_view kHard = "style=\"image-rendering:pixelated\" ";
  std::string result;
  size_t from = 0;
  for (const CanvasPicture& picture : pictures) {
    const size_t at = svg.find(kElement, from);
    if (at == std::string::npos) break;
    const size_t end = at + kElement.size();
    result.append(svg, from, end - from);
    if (!picture.smooth()) result += kHard;
    from = end;
  }
  return result.append(svg, from);
}

// Above everything that is drawn; figures of equal width, as in the outlines.
std::string with_text(std::string svg, const std::string& elements) {
  if (elements.empty()) return svg;
  const size_t end = std::min(svg.rfind("</svg>"), svg.size());
  return svg.insert(
      end, "<g xml:space=\"preserve\" style=\"font-feature-settings:'tnum';white-space:pre\">\n" +
               elements + "</g>\n");
}

std::string with_description(const std::string& svg, const FigureText& text, const Json& metadata) {
  const size_t root = svg.find("<svg");
  const size_t inside = root == std::string::npos ? root : svg.find('>', root);
  if (inside == std::string::npos) fail(ErrorKind::kInternal, "cairo wrote no SVG");
  const std::string words = "\n<title>" + escape_text(text.title) + "</title>\n<desc>" +
                            escape_text(text.caption) + "</desc>\n<metadata>" +
                            escape_text(to_characters(metadata.dump())) + "</metadata>";
  std::string result = svg;
  return result.insert(inside + 1, words).insert(inside, " role=\"img\"");
}

}  // namespace

EncodedFigure encode_as_png(const Body& body, double pixels_per_unit, const FigureText& text,
                            const MakeMetadata& metadata) {
  const double width = std::ceil(body.width * pixels_per_unit);
  const double height = std::ceil(body.height * pixels_per_unit);
  check_size(width, height, kLongestDrawing, "a PNG", "pixels");
  if (width * height > kMostArea) {
    fail(ErrorKind::kInvalidArgument,
         "the figure has {:.0f} x {:.0f} pixels, more than {:.0f} in all; draw a part, or at a "
         "smaller scale",
         width, height, kMostArea);
  }
  const Surface surface(cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(width),
                                                   static_cast<int>(height)),
                        cairo_surface_destroy);
  check_status(cairo_surface_status(surface.get()), "making the picture");
  cairo_t* blank = cairo_create(surface.get());
  cairo_set_source_rgb(blank, 1, 1, 1);  // also the last, partly covered pixels
  cairo_paint(blank);
  cairo_destroy(blank);
  EncodedFigure encoded;
  encoded.metadata =
      metadata(draw_on(surface.get(), body, pixels_per_unit, TextAs::kPixels).families);
  encoded.bytes = encode_png(to_picture(surface.get()), {.software = "fovea",
                                                         .title = text.title,
                                                         .description = text.caption,
                                                         .metadata = encoded.metadata.dump(),
                                                         .pixels_per_inch = 96 * pixels_per_unit,
                                                         .compression = 6,
                                                         .rows_repeat = false});
  return encoded;
}

EncodedFigure encode_as_svg(const Body& body, TextAs text_as, const FigureText& text,
                            const MakeMetadata& metadata) {
  check_size(body.width, body.height, kLongestDrawing, "an SVG", "pixels");
  std::string svg;
  EncodedFigure encoded;
  Used used;
  {
    const Surface surface(
        cairo_svg_surface_create_for_stream(append, &svg, body.width, body.height),
        cairo_surface_destroy);
    cairo_svg_surface_set_document_unit(surface.get(), CAIRO_SVG_UNIT_PX);
    used = draw_on(surface.get(), body, 1, text_as);
    cairo_surface_finish(surface.get());
    check_status(cairo_surface_status(surface.get()), "writing the SVG");
  }
  encoded.metadata = metadata(used.families);
  svg = with_text(with_hard_pixels(with_plain_ids(svg), used.pictures), used.svg_text);
  encoded.bytes = with_description(svg, text, encoded.metadata);
  return encoded;
}

EncodedFigure encode_as_pdf(const Body& body, const FigureText& text,
                            const MakeMetadata& metadata) {
  const double width = body.width * kPointsPerUnit;
  const double height = body.height * kPointsPerUnit;
  check_size(width, height, kMostPoints, "a PDF page", "points");
  EncodedFigure encoded;
  const Surface surface(cairo_pdf_surface_create_for_stream(append, &encoded.bytes, width, height),
                        cairo_surface_destroy);
  encoded.metadata =
      metadata(draw_on(surface.get(), body, kPointsPerUnit, TextAs::kGlyphs).families);
  const auto set = [&](cairo_pdf_metadata_t what, const std::string& value) {
    cairo_pdf_surface_set_metadata(surface.get(), what, value.c_str());
  };
  set(CAIRO_PDF_METADATA_TITLE, text.title);
  set(CAIRO_PDF_METADATA_SUBJECT, text.caption);
  set(CAIRO_PDF_METADATA_CREATOR, "fovea");
  set(CAIRO_PDF_METADATA_KEYWORDS, to_characters(encoded.metadata.dump()));
  // A fixed day: the same figure gives the same bytes.
  set(CAIRO_PDF_METADATA_CREATE_DATE, "2000-01-01T00:00:00Z");
  cairo_surface_finish(surface.get());
  check_status(cairo_surface_status(surface.get()), "writing the PDF");
  return encoded;
}

}  // namespace fovea
