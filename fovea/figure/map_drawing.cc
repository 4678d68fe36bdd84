#include "fovea/figure/map_drawing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/base/parse.h"
#include "fovea/figure/color_axis.h"

namespace fovea {
namespace {

constexpr double kShortReach = 8;       // over a picture, where nothing goes beyond it
constexpr double kLeastWeight = 1e-5;   // of the largest, where a logarithmic scale begins
constexpr double kLeastLargest = 1e-4;  // the same for the largest of many
constexpr double kScoreShare = 99.5;    // percent of scores that the colours reach

RangeEnd parse_end(std::string_view text, std::string_view all) {
  RangeEnd end{.percentile = text.ends_with('%')};
  if (end.percentile) text.remove_suffix(1);
  const auto number = parse_number<double>(text);
  if (!number || !std::isfinite(*number)) {
    fail(ErrorKind::kInvalidArgument, Field{"range"},
         "'{}' is not LOW:HIGH, two numbers or percentiles, as 0:0.5 or 1%:99%", all);
  }
  if (end.percentile && (*number < 0 || *number > 100)) {
    fail(ErrorKind::kInvalidArgument, Field{"range"}, "{}% is no percentile; they are 0% to 100%",
         text);
  }
  end.value = *number;
  return end;
}

std::vector<float> finite_of(std::span<const float> values) {
  std::vector<float> finite;
  for (const float value : values) {
    if (std::isfinite(value)) finite.push_back(value);
  }
  return finite;
}

// The value that so many percent of all lie below. Reorders them.
double percentile_of(std::vector<float>& values, double percent) {
  if (values.empty()) return 0;
  const auto last = static_cast<double>(values.size() - 1);
  const auto place = values.begin() + static_cast<int64_t>(std::lround(last * percent / 100));
  std::ranges::nth_element(values, place);
  return double{*place};
}

void check_together(const MapDrawing& drawing, bool asked_curve) {
  if (drawing.of == MapValue::kScore && drawing.curve != ScaleCurve::kLinear) {
    fail(ErrorKind::kInvalidArgument, Field{"scale"},
         "scores are above and below 0 but {} colours are of what is 0 or more; leave it out",
         name_of(drawing.curve));
  }
  if (drawing.of == MapValue::kTimesEven && drawing.merge == Merge::kMax) {
    fail(ErrorKind::kInvalidArgument, Field{"pool"},
         "the largest of a bin is a weight, not how many times even; leave one of them out");
  }
  if (!drawing.range || drawing.curve == ScaleCurve::kLinear) return;
  const RangeEnd& low = drawing.range->low;
  const bool log = drawing.curve == ScaleCurve::kLog;
  if (low.percentile || (log ? low.value > 0 : low.value >= 0)) return;
  fail(ErrorKind::kInvalidArgument, Field{"range"}, "it begins at {} but {} colours begin {}{}",
       low.value, name_of(drawing.curve), log ? "above 0" : "at 0 or above",
       asked_curve ? "" : "; give `scale` linear too");
}

ColorScale usual_scale(const MapDrawing& drawing, std::vector<float>& finite, double largest) {
  ColorScale scale{0, round_end(largest)};
  if (drawing.of == MapValue::kScore) {
    for (float& value : finite) value = std::abs(value);
    const double reach = percentile_of(finite, kScoreShare);
    return reach > 0 ? ColorScale{-reach, reach} : ColorScale{-1, 1};
  }
  if (drawing.curve != ScaleCurve::kLog) return scale;
  if (drawing.of == MapValue::kTimesEven) {
    return drawing.from_even ? even_scale(largest) : ColorScale{1 / kEvenReach, kEvenReach};
  }
  // A weight has its place on a scale to 1; a length has no such end.
  if (drawing.of == MapValue::kWeight) scale.high = 1;
  scale.low = scale.high * (drawing.merge == Merge::kMax ? kLeastLargest : kLeastWeight);
  return scale;
}

ColorScale asked_scale(const MapDrawing& drawing, std::vector<float>& finite) {
  const auto value_of = [&](const RangeEnd& end) {
    return end.percentile ? percentile_of(finite, end.value) : end.value;
  };
  ColorScale scale{value_of(drawing.range->low), value_of(drawing.range->high)};
  // A percentile of a map with zeros in it.
  if (drawing.curve == ScaleCurve::kLog && scale.low <= 0) {
    double least = scale.high;
    for (const float value : finite) {
      if (value > 0) least = std::min(least, double{value});
    }
    scale.low = least;
  }
  if (scale.low < scale.high) return scale;
  if (drawing.range->low.percentile || drawing.range->high.percentile) {
    return {scale.low, scale.low + std::max(1e-6, std::abs(scale.low) * 1e-3)};
  }
  fail(ErrorKind::kInvalidArgument, Field{"range"},
       "it goes from {} to {} but must rise; give the lower end first", scale.low, scale.high);
}

}  // namespace

ColorRange parse_range(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return {parse_end("", text), {}};
  return {parse_end(text.substr(0, colon), text), parse_end(text.substr(colon + 1), text)};
}

bool MapDrawing::is_plain() const {
  return of == MapValue::kWeight && curve == ScaleCurve::kLinear && !range;
}

double round_end(double largest) {
  if (!(largest > 0)) return 1;
  constexpr double kSteps[] = {1, 1.5, 2, 2.5, 3, 4, 5, 6, 8};
  constexpr double kSlack = 1 + 1e-5;  // 1.0000001 is 1
  const double power = std::pow(10, std::floor(std::log10(largest / kSlack)));
  for (const double step : kSteps) {
    if (largest <= step * power * kSlack) return step * power;
  }
  return 10 * power;
}

MapDrawing map_drawing(const ViewChoice& choice, int64_t positions, int64_t maps) {
  const bool is_long = positions > kShortMap && !choice.exact;
  MapDrawing drawing{.range = choice.range, .merge = choice.largest ? Merge::kMax : Merge::kWords};
  const MapValue usual = is_long && !choice.largest ? MapValue::kTimesEven : MapValue::kWeight;
  drawing.of = choice.of.value_or(usual);
  const bool log = drawing.of == MapValue::kTimesEven || (choice.largest && is_long);
  const bool small_show = drawing.of == MapValue::kWeight && !is_long && !choice.exact &&
                          !choice.range && (maps > 1 || positions > kNumberedMap);
  drawing.curve = choice.curve.value_or(log          ? ScaleCurve::kLog
                                        : small_show ? ScaleCurve::kSqrt
                                                     : ScaleCurve::kLinear);
  if (drawing.of == MapValue::kScore && !choice.curve) drawing.curve = ScaleCurve::kLinear;
  check_together(drawing, choice.curve.has_value());
  return drawing;
}

MapDrawing row_drawing(const ViewChoice& choice) {
  MapDrawing drawing = map_drawing(choice, 1);
  drawing.from_even = drawing.of == MapValue::kTimesEven && !choice.range;
  return drawing;
}

MapDrawing picture_drawing(const ViewChoice& choice) {
  ViewChoice over_picture = choice;
  if (!choice.of) over_picture.of = MapValue::kTimesEven;
  return row_drawing(over_picture);
}

ColorScale even_scale(double largest) {
  const double high = largest <= kShortReach ? kShortReach : kEvenReach;
  return {.low = 1,
          .high = high,
          .curve = ScaleCurve::kLog,
          .times_even = true,
          .above = largest > high};
}

std::string even_note(const ColorScale& scale, double largest) {
  return fmt::format(
      " · times an even share, log colours ×1 to {}, largest {} · no colour: even or less",
      scale_text(scale, scale.high), scale_text(scale, largest));
}

ColorScale scale_of(const MapDrawing& drawing, std::span<const float> values) {
  std::vector<float> finite = finite_of(values);
  const auto [least, most] = std::ranges::minmax_element(finite);
  const double low = finite.empty() ? 0 : double{*least};
  const double high = finite.empty() ? 0 : double{*most};
  ColorScale scale =
      drawing.range ? asked_scale(drawing, finite) : usual_scale(drawing, finite, high);
  scale.curve = drawing.curve;
  scale.times_even = drawing.of == MapValue::kTimesEven;
  const double slack = (scale.high - scale.low) * 1e-6;
  scale.above = !drawing.is_plain() && high > scale.high + slack;
  scale.below = !drawing.is_plain() && !drawing.from_even && low < scale.low - slack;
  return scale;
}

std::string value_name(MapValue of) {
  switch (of) {
    case MapValue::kTimesEven:
      return "weight, times even";
    case MapValue::kScore:
      return "score before softmax";
    case MapValue::kValueWeighted:
      return "weight × length of value";
    case MapValue::kWeight:
      break;
  }
  return "attention weight";
}

std::string meaning_of(MapValue of) {
  switch (of) {
    case MapValue::kTimesEven:
      return "softmax weight, divided by what even attention gives";
    case MapValue::kScore:
      return "score before softmax";
    case MapValue::kValueWeighted:
      return "softmax weight times the length of the value";
    case MapValue::kWeight:
      break;
  }
  return "softmax weight";
}

std::string colors_note(const MapDrawing& drawing, const ColorScale& scale,
                        std::span<const float> values, std::string_view what) {
  if (drawing.is_plain()) return "";
  double largest = 0;
  for (const float value : values) {
    if (std::isfinite(value) && std::abs(double{value}) > std::abs(largest))
      largest = double{value};
  }
  const std::string curve = scale.curve == ScaleCurve::kLinear ? ""
                            : scale.curve == ScaleCurve::kSqrt
                                ? "square-root "
                                : fmt::format("{} ", name_of(scale.curve));
  const std::string low = scale.low == 1 && scale.times_even ? "×1" : scale_text(scale, scale.low);
  return fmt::format(" · {}{} {} to {}, largest {}{}", curve, what, low,
                     scale_text(scale, scale.high), scale_text(scale, largest),
                     drawing.from_even ? " · no colour: even or less" : "");
}

}  // namespace fovea
