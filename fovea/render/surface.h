// A laid out drawing into the bytes of a file.
#pragma once

#include <functional>
#include <set>
#include <string>

#include "fovea/render/figure_file.h"
#include "fovea/render/frame.h"

namespace fovea {

// Called after drawing, when the families that were used are known.
using MakeMetadata = std::function<Json(const std::set<std::string>& families)>;

// All throw Error{kInvalidArgument} before drawing if the format cannot hold the size.
EncodedFigure encode_as_png(const Body& body, double pixels_per_unit, const FigureText& text,
                            const MakeMetadata& metadata);
EncodedFigure encode_as_svg(const Body& body, TextAs text_as, const FigureText& text,
                            const MakeMetadata& metadata);
EncodedFigure encode_as_pdf(const Body& body, const FigureText& text, const MakeMetadata& metadata);

}  // namespace fovea
