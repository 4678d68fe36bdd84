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

struct Drawn {
  Body body;
  const ColorMap* colors = nullptr;  // null: the figure needs none
};

// Where there are negative values, the map for differences.
const ColorMap& suiting(const std::string& name, const ColorScale& scale,
                        std::string_view otherwise = "inferno") {
  if (!name.empty()) return color_map(name);
  return color_map(scale.low < 0 && scale.high > 0 ? "RdBu" : otherwise);
}

struct Draw {
  const FigureOptions& options;

  Drawn operator()(const MatrixFigure& figure) const {
    const ColorMap& colors = suiting(options.colors, figure.scale);
    return {draw_matrix(figure, colors), &colors};
  }
  Drawn operator()(const HeadsFigure& figure) const {
    const ColorMap& colors = suiting(options.colors, figure.scale);
    return {draw_heads(figure, colors), &colors};
  }
  // Text is read on white, so low must be light.
  Drawn operator()(const ReadFigure& figure) const {
    const ColorMap& colors = suiting(options.colors, figure.scale, "paper");
    return {draw_read(figure, colors), &colors};
  }
  Drawn operator()(const ReadingFigure& figure) const {
    const ColorMap& colors = color_map(options.colors.empty() ? "paper" : options.colors);
    return {draw_reading(figure, colors), &colors};
  }
  Drawn operator()(const LinesFigure& figure) const { return {draw_lines(figure), nullptr}; }
  Drawn operator()(const StepsFigure& figure) const {
    const ColorMap& colors = color_map(options.colors.empty() ? "paper" : options.colors);
    return {draw_steps(figure, colors), &colors};
  }
  Drawn operator()(const AlignFigure& figure) const {
    const ColorMap& colors = suiting(options.colors, figure.scale);
    return {draw_align(figure, colors), &colors};
  }
  Drawn operator()(const ImageFigure& figure) const {
    const ColorMap& colors = suiting(options.colors, figure.scale);
    return {draw_image(figure, colors), &colors};
  }
  Drawn operator()(const KernelsFigure& figure) const {
    const ColorMap& colors = suiting(options.colors, figure.scale);
    return {draw_kernels(figure, colors), &colors};
  }
  Drawn operator()(const DotsFigure& figure) const { return {draw_dots(figure), nullptr}; }
  Drawn operator()(const CurvesFigure& figure) const { return {draw_curves(figure), nullptr}; }
  Drawn operator()(const CompositeFigure& figure) const {
    return {draw_composite(figure), nullptr};
  }
};

const FigureText& figure_text(const Figure& figure) {
  return std::visit([](const auto& each) -> const FigureText& { return each.text; }, figure);
}

// What any format can carry: characters, and of control characters only line breaks.
std::string clean(std::string_view text) {
  std::string result = to_characters(text);
  std::erase_if(result, [](char letter) {
    return (static_cast<unsigned char>(letter) < 0x20 && letter != '\n') || letter == 0x7f;
  });
  return result;
}
FigureText clean(const FigureText& text) {
  return {clean(text.title), clean(text.caption), text.metadata, clean(text.badge)};
}

// Cells below one unit get whole pixels all the same.
double pixels_per_unit(const Body& body, int scale) {
  if (body.cell <= 0 || body.cell >= 1) return scale;
  return std::ceil(scale * body.cell) / body.cell;
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
  if (options.scale < 1 || options.scale > kLargestScale) {
    fail(ErrorKind::kInvalidArgument, "the scale of a figure is {} but should be 1 to {}",
         options.scale, kLargestScale);
  }
  static std::mutex one_at_a_time;  // the fonts are shared
  const std::lock_guard lock(one_at_a_time);
  const FigureText text = clean(figure_text(figure));
  const Drawn drawn = std::visit(Draw{options}, figure);
  const Body all = framed(drawn.body, text);
  const auto metadata = [&](const std::set<std::string>& families) {
    return all_metadata(text, drawn.colors, families);
  };
  switch (format) {
    case FigureFormat::kPng:
      return encode_as_png(all, pixels_per_unit(all, options.scale), text, metadata);
    case FigureFormat::kSvg:
      return encode_as_svg(all, text, metadata);
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
