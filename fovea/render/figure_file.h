// Figures as files: PNG, SVG and PDF out of one drawing. The same figure and options give the same
// bytes.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "fovea/figure/figure.h"

namespace fovea {

inline constexpr int kMostPixels = 4;

struct FigureOptions {
  int pixels = 2;      // pixels of a PNG per unit, 1 to kMostPixels
  std::string colors;  // a name of color_map.h; empty: what suits the figure
  // An SVG's text as text, which can be edited and searched but looks as planned only where its
  // fonts are; otherwise as outlines, which look the same everywhere.
  bool svg_text = false;
  bool sidecar = false;  // also write the metadata to FILE.json
};

enum class FigureFormat { kPng, kSvg, kPdf };

// True for .png, .svg and .pdf, in any case.
bool is_figure_suffix(const std::filesystem::path& path);
// Throws Error{kInvalidArgument} that lists the suffixes.
FigureFormat figure_format(const std::filesystem::path& path);

struct EncodedFigure {
  std::string bytes;
  // The figure's own metadata and what only drawing knows: title, caption, colours, fonts.
  Json metadata;
};

// Throws Error{kInvalidArgument} on a figure whose parts do not fit together, a wrong option, or a
// size that the format cannot hold; then nothing has been drawn. May be called from any thread;
// figures are drawn one at a time.
EncodedFigure encode_figure(FigureFormat format, const Figure& figure,
                            const FigureOptions& options = {});

// Throws as encode_figure does, and Error{kIo}; what was at `path` stays if it cannot be written
// whole.
void write_figure(const std::filesystem::path& path, const Figure& figure,
                  const FigureOptions& options = {});

}  // namespace fovea
