// What of a map is drawn and how it becomes a colour: as it is asked for, or as suits the map's
// size.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "fovea/atlas/merged_map.h"
#include "fovea/figure/view.h"

namespace fovea {

// Up to so many positions a side a map is drawn as weights, linear from 0 to the largest; a longer
// one as times even, logarithmic from a 32nd to 32 times, the same for every head and length.
inline constexpr int64_t kShortMap = 64;
// Bins a side of one map, and of one of many.
inline constexpr int64_t kMatrixBins = 512;
inline constexpr int64_t kPanelBins = 80;

struct MapDrawing {
  MapValue of = MapValue::kWeight;
  ScaleCurve curve = ScaleCurve::kLinear;
  std::optional<ColorRange> range;
  Merge merge = Merge::kWords;

  // Weights, linear from 0 to the largest: what a caption need not say.
  bool is_plain() const;
};

// Of a map with so many positions on its longer side. Throws Error{kInvalidArgument} about the
// field for what does not go together.
MapDrawing map_drawing(const ViewChoice& choice, int64_t positions);

// Of one row or column over its picture or running text: weights unless something else is asked
// for, and times even from even to 32 times, so that what is looked at no more than evenly has no
// colour.
MapDrawing row_drawing(const ViewChoice& choice);

// The colours of such values, all panels together; NaN counts for nothing.
ColorScale scale_of(const MapDrawing& drawing, std::span<const float> values);

// Beside the colour bar: "attention weight", "weight, times even".
std::string value_name(MapValue of);
// "softmax weight", "softmax weight over what even attention gives", ...
std::string meaning_of(MapValue of);
// " · log colours ÷32 to ×32, largest ×150"; empty where the drawing is plain. `what` shows values.
std::string colors_note(const MapDrawing& drawing, const ColorScale& scale,
                        std::span<const float> values, std::string_view what = "colours");

}  // namespace fovea
