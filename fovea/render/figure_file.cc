#include "fovea/render/figure_file.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/utf8.h"
#include "fovea/render/draw.h"
#include "fovea/render/surface.h"

namespace fovea {
namespace {

struct Suffix {
  std::string_view text;
  FigureFormat format;
};
constexpr std::array<Suffix, 3> kSuffixes = {
    {{".png", FigureFormat::kPng}, {".svg", FigureFormat::kSvg}, {".pdf", FigureFormat::kPdf}}};

const Suffix* find_suffix(const std::filesystem::path& path) {
  const std::string suffix = lower_suffix(path);
  const auto* found = std::ranges::find(kSuffixes, suffix, &Suffix::text);
  return found == kSuffixes.end() ? nullptr : found;
}

bool has_color_map(const Figure& figure) {
  const auto* lines = std::get_if<LinesFigure>(&figure);
  return (lines == nullptr || lines->in_panels()) && !std::holds_alternative<DotsFigure>(figure) &&
         !std::holds_alternative<CurvesFigure>(figure) &&
         !std::holds_alternative<CompositeFigure>(figure);
}

// Text that any format can carry: characters, and line breaks as the only control characters.
std::string clean(std::string_view text) {
  std::string result = to_characters(text);
  std::erase_if(result, [](char letter) {
    return (static_cast<unsigned char>(letter) < 0x20 && letter != '\n') || letter == 0x7f;
  });
  return result;
}
FigureText clean(const FigureText& text) {
  return {clean(text.title), clean(text.caption), text.metadata, clean(text.badge),
          clean(text.subtitle)};
}

// Cells of half a unit get whole pixels all the same.
double pixels_per_unit(const Body& body, int pixels) {
  if (body.cell <= 0) return pixels;
  return std::ceil(pixels * body.cell) / body.cell;
}

Json all_metadata(const FigureText& text, const ColorMap* colors,
                  const std::set<std::string>& families) {
  Json metadata = text.metadata.is_object() ? text.metadata : Json::object();
  metadata.set("title", text.title);
  metadata.set("caption", text.caption);
  if (!text.badge.empty()) metadata.set("badge", text.badge);
  if (colors != nullptr) metadata.set("colors", colors->name());
  metadata.set("fonts", Json::array_of(families));
  return metadata;
}

}  // namespace

bool is_figure_suffix(const std::filesystem::path& path) {
  return find_suffix(path) != nullptr;
}

FigureFormat figure_format(const std::filesystem::path& path) {
  if (const Suffix* suffix = find_suffix(path)) return suffix->format;
  fail(ErrorKind::kInvalidArgument,
       "{}: a figure is written as .png, .svg or .pdf but this ends in '{}'; give one of these",
       path.string(), path.extension().string());
}

EncodedFigure encode_figure(FigureFormat format, const Figure& figure,
                            const FigureOptions& options) {
  if (options.pixels < 1 || options.pixels > kMostPixels) {
    fail(ErrorKind::kInvalidArgument,
         "a figure of {} pixels per unit is asked for but there are 1 to {}", options.pixels,
         kMostPixels);
  }
  static std::mutex one_at_a_time;  // the fonts are shared
  const std::lock_guard lock(one_at_a_time);
  const FigureText text = clean(text_in(figure));
  const ColorMap& colors = colors_of(figure, options.colors);
  const Body all = framed(draw_figure(figure, options.colors), text);
  const auto metadata = [&](const std::set<std::string>& families) {
    return all_metadata(text, has_color_map(figure) ? &colors : nullptr, families);
  };
  switch (format) {
    case FigureFormat::kPng:
      return encode_as_png(all, pixels_per_unit(all, options.pixels), text, metadata);
    case FigureFormat::kSvg:
      return encode_as_svg(all, options.svg_text ? TextAs::kElements : TextAs::kGlyphs, text,
                           metadata);
    case FigureFormat::kPdf:
      return encode_as_pdf(all, text, metadata);
  }
  fail(ErrorKind::kInternal, "there is no such format");
}

void write_figure(const std::filesystem::path& path, const Figure& figure,
                  const FigureOptions& options) {
  const EncodedFigure encoded = encode_figure(figure_format(path), figure, options);
  write_file_atomic(path, [&](FileWriter& writer) { writer.write(encoded.bytes); });
  if (!options.sidecar) return;
  std::filesystem::path beside = path;
  beside += ".json";
  write_file_atomic(beside,
                    [&](FileWriter& writer) { writer.write(encoded.metadata.dump(2) + "\n"); });
}

}  // namespace fovea
