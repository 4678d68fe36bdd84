// What of a map is drawn and how it becomes a colour: as it is asked for, or as suits the map's
// size.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "fovea/atlas/merged_map.h"
#include "fovea/figure/view.h"

namespace fovea {

// Up to so many positions a side a map is drawn as weights from 0 to the largest; a longer one as
// times even, logarithmic from a 32nd to 32 times, the same for every head and length.
inline constexpr int64_t kShortMap = 64;
// Weights are coloured by their square root, so that small ones show, unless there is one map of so
// few positions that each cell has its number in it.
inline constexpr int64_t kNumberedMap = 24;
// How far the colours of times even reach, either way.
inline constexpr double kEvenReach = 32;
// Bins a side of one map, and of one of many.
inline constexpr int64_t kMatrixBins = 512;
inline constexpr int64_t kPanelBins = 80;

struct MapDrawing {
  MapValue of = MapValue::kWeight;
  ScaleCurve curve = ScaleCurve::kLinear;
  std::optional<ColorRange> range;
  Merge merge = Merge::kWords;
  // Times even from even on: what is looked at no more than evenly has no colour.
  bool from_even = false;

  // Weights, linear from 0 to the largest: what a caption need not say.
  bool is_plain() const;
};

// Of a map with so many positions on its longer side, or of several of them. Throws
// Error{kInvalidArgument} about the field for what does not go together.
MapDrawing map_drawing(const ViewChoice& choice, int64_t positions, int64_t maps = 1);

// The next of 1, 1.5, 2, 2.5, 3, 4, 5, 6, 8 and their tenfolds: where the colours of weights end.
double round_end(double largest);

// Of one row or column over its running text: weights unless something else is asked for, and times
// even from even on.
MapDrawing row_drawing(const ViewChoice& choice);
// The same over a picture: times even unless something else is asked for.
MapDrawing picture_drawing(const ViewChoice& choice);

// Over a picture the colours of times even, of all panels together, end at 8, or at 32 where one of
// them goes beyond 8.
ColorScale even_scale(double largest);
// What a caption says of it: " · times an even share, log colours ×1 to ×32, largest ×150 · ...".
std::string even_note(const ColorScale& scale, double largest);

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
