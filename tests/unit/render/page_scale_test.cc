// What a page draws by the same rules as a figure: which colour a value has, what stands beside the
// colour bar, what is drawn of which map, and its bins. C++ and TypeScript (web/src/core) are held
// against one file of vectors, tests/data/page/scales.json.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>

#include "fovea/atlas/merged_map.h"
#include "fovea/figure/color_axis.h"
#include "fovea/figure/contour.h"
#include "fovea/figure/map_drawing.h"
#include "fovea/figure/picture_tone.h"
#include "support/data.h"
#include "support/page_golden.h"
#include "support/records.h"

namespace fovea {
namespace {

using support::AttentionCase;
using support::plain_case;

const std::vector<std::pair<const char*, ColorScale>>& golden_scales() {
  static const std::vector<std::pair<const char*, ColorScale>> kScales = {
      {"inferno", {1.0 / 32, 32, ScaleCurve::kLog, /*times_even=*/true}},
      {"inferno", {1, 32, ScaleCurve::kLog, /*times_even=*/true}},
      {"inferno", {1, 8, ScaleCurve::kLog, /*times_even=*/true}},
      {"paper", {0.5, 8, ScaleCurve::kLog, /*times_even=*/true}},
      {"inferno", {0, 37.3, ScaleCurve::kLinear, /*times_even=*/true}},
      {"viridis", {0, 12, ScaleCurve::kSqrt, /*times_even=*/true}},
      {"inferno", {0, 0.7}},
      {"cividis", {0.1, 0.5}},
      {"paper", {0, 0.37, ScaleCurve::kSqrt}},
      {"inferno", {0.02, 0.9, ScaleCurve::kSqrt}},
      {"inferno", {1e-5, 1, ScaleCurve::kLog}},
      {"viridis", {0.004, 0.3, ScaleCurve::kLog}},
      {"inferno", {0, 0.0031}}};
  return kScales;
}

Json tick_json(const ColorTick& tick) {
  return Json(Json::Array{tick.place, tick.text, tick.strong});
}

// Values from below the low end to above the high one, with the ends and 0.
Json golden_values(const ColorAxis& axis) {
  Json values = Json::array();
  for (int i = -3; i <= 43; ++i) {
    const double value = i == -3 ? 0 : value_at(axis.scale(), i / 40.0);
    if (axis.scale().curve != ScaleCurve::kLinear && value < 0) continue;
    const Rgb color = axis.at(value);
    values.push_back(Json(Json::Array{value, axis.position(value), color.red, color.green,
                                      color.blue, scale_text(axis.scale(), value)}));
  }
  return values;
}

Json golden_axes() {
  Json axes = Json::array();
  for (const auto& [name, scale] : golden_scales()) {
    const ColorAxis axis(color_map(name), scale);
    Json ticks = Json::object();
    for (const int wanted : {3, 5, 7}) {
      Json line = Json::array();
      for (const ColorTick& tick : axis.ticks(wanted)) line.push_back(tick_json(tick));
      ticks.set(std::to_string(wanted), std::move(line));
    }
    axes.push_back(Json::object({{"colors", name},
                                 {"low", scale.low},
                                 {"high", scale.high},
                                 {"curve", name_of(scale.curve)},
                                 {"timesEven", scale.times_even},
                                 {"values", golden_values(axis)},
                                 {"ticks", std::move(ticks)}}));
  }
  return axes;
}

// What is asked for, of a map of so many positions, and what comes of it over some values.
Json golden_drawings() {
  std::vector<float> values(200);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * i) * 0.0011F;
  values[7] = std::nanf("");
  Json numbers = Json::array();
  for (const float value : values)
    numbers.push_back(std::isnan(value) ? Json() : Json(double{value}));
  Json drawings = Json::array();
  using Of = std::optional<MapValue>;
  using Curve = std::optional<ScaleCurve>;
  for (const int64_t positions : {1, 64, 65, 4000}) {
    for (const Of of : {Of{}, Of{MapValue::kWeight}, Of{MapValue::kTimesEven}}) {
      for (const Curve curve : {Curve{}, Curve{ScaleCurve::kLinear}, Curve{ScaleCurve::kSqrt},
                                Curve{ScaleCurve::kLog}}) {
        for (const char* range : {"", "0.5:8", "5%:95%"}) {
          ViewChoice choice{.of = of, .curve = curve};
          Json ends;
          if (*range != '\0') {
            choice.range = parse_range(range);
            ends = *range == '5' ? Json(Json::Array{"5%", "95%"}) : Json(Json::Array{0.5, 8.0});
          }
          const MapDrawing drawing = map_drawing(choice, positions);
          const ColorScale scale = scale_of(drawing, values);
          const auto word = [](const auto& given, auto name) {
            return given ? std::string(name(*given)) : std::string();
          };
          const auto of_name = [](MapValue value) {
            return map_value_names()[static_cast<size_t>(value)];
          };
          drawings.push_back(
              Json::object({{"positions", positions},
                            {"of", word(of, of_name)},
                            {"curve", word(curve, [](ScaleCurve c) { return name_of(c); })},
                            {"range", ends},
                            {"drawnOf", of_name(drawing.of)},
                            {"drawnCurve", name_of(drawing.curve)},
                            {"low", scale.low},
                            {"high", scale.high},
                            {"below", scale.below},
                            {"above", scale.above},
                            {"note", colors_note(drawing, scale, values)},
                            {"name", value_name(drawing.of)},
                            {"meaning", meaning_of(drawing.of)}}));
        }
      }
    }
  }
  return Json::object({{"values", std::move(numbers)}, {"drawings", std::move(drawings)}});
}

// A photograph in small, what lies over it and what stands above it.
Json golden_tone() {
  Picture picture(16, 12);
  Json pixels = Json::array(), ground = Json::array();
  for (int64_t i = 0; i < 16 * 12; ++i) {
    const Rgb color{static_cast<uint8_t>(i * 7 % 251), static_cast<uint8_t>(i * 13 % 239),
                    static_cast<uint8_t>(40 + i)};
    picture.set(i % 16, i / 16, color);
    pixels.push_back(Json(Json::Array{color.red, color.green, color.blue}));
  }
  const Picture dark = dark_ground(picture);
  for (int64_t i = 0; i < 16 * 12; ++i) ground.push_back(dark.at(i % 16, i / 16).green);
  Json table = Json::array(), tints = Json::array(), legend = Json::array();
  const auto add = [](Json& list, Rgb color) {
    for (const uint8_t channel : {color.red, color.green, color.blue}) list.push_back(channel);
  };
  for (const Rgb color : inferno().table()) add(table, color);
  const ColorMap over_ground = colors_over_ground(inferno(), false);
  for (const Rgb color : over_ground.table()) add(legend, color);
  for (int i = -2; i <= 22; ++i) {
    const Tint tint = tint_of(inferno(), i / 20.0, false);
    tints.push_back(
        Json(Json::Array{i / 20.0, tint.color.red, tint.color.green, tint.color.blue, tint.cover}));
  }
  Json masses = Json::array();
  for (const std::vector<float>& values :
       {std::vector<float>{0.5F, 0.25F, 0.125F, std::nanf(""), 0.125F, 0},
        std::vector<float>(12, 0.25F), std::vector<float>(4, 0)}) {
    Json numbers = Json::array();
    for (const float value : values) {
      numbers.push_back(std::isnan(value) ? Json() : Json(double{value}));
    }
    const Tensor row = Tensor::from<float>({1, std::ssize(values)}, values);
    masses.push_back(
        Json::object({{"values", std::move(numbers)}, {"note", mass_note(row.matrix<float>())}}));
  }
  return Json::object({{"table", std::move(table)},
                       {"picture", std::move(pixels)},
                       {"ground", std::move(ground)},
                       {"tints", std::move(tints)},
                       {"legend", std::move(legend)},
                       {"masses", std::move(masses)}});
}

std::vector<AttentionCase> binned_cases() {
  Mask padded{.key_valid = std::vector<uint8_t>(21, 1)};
  padded.key_valid[4] = padded.key_valid[20] = 0;
  Mask windows;
  for (int i = 0; i < 21; ++i) windows.query_group.push_back(i / 6);
  windows.key_group = windows.query_group;
  std::vector<AttentionCase> cases = {plain_case(21, 8, false, 2), plain_case(67, 8, true, 4),
                                      plain_case(21, 8, false, 5), plain_case(21, 8, false, 6),
                                      plain_case(33, 8, false, 7)};
  cases[2].rule.mask = padded;
  cases[3].rule.mask = windows;
  cases[4].rule.mask = Mask{.query_offset = 2, .behind = 5, .ahead = 0};
  const char* names[] = {"plain", "causal", "padded", "windows", "sliding"};
  for (size_t i = 0; i < cases.size(); ++i) cases[i].name = names[i];
  return cases;
}

// Six digits are far more than a step of colours tells.
Json floats_json(std::span<const float> values) {
  Json json = Json::array();
  for (const float value : values) {
    json.push_back(std::isnan(value) ? Json() : Json(std::stod(fmt::format("{:.6g}", value))));
  }
  return json;
}

Json golden_bins() {
  constexpr double kLevels = 65000;
  Json maps = Json::array();
  for (const AttentionCase& c : binned_cases()) {
    const auto record = support::shared_record_of(c);
    const MergedMap whole = pooled_map(record, 0, 1, Merge::kWords);
    Json codes = Json::array();
    for (const float weight : whole.weights.values<float>())
      codes.push_back(std::isnan(weight) ? -1 : static_cast<int>(std::lround(weight * kLevels)));
    Json bins = Json::array();
    for (const int64_t block : {1, 5, 16}) {
      const auto values = [&](MapValue of) {
        return floats_json(pooled_map(record, 0, block, Merge::kWords, of).weights.values<float>());
      };
      bins.push_back(Json::object({{"block", block},
                                   {"weight", values(MapValue::kWeight)},
                                   {"timesEven", values(MapValue::kTimesEven)}}));
    }
    maps.push_back(Json::object({{"name", c.name},
                                 {"rows", c.shape.rows},
                                 {"cols", c.shape.cols},
                                 {"levels", static_cast<int>(kLevels)},
                                 {"mask", support::mask_json(c.rule.mask)},
                                 {"codes", std::move(codes)},
                                 {"bins", std::move(bins)}}));
  }
  return maps;
}

// The same, but for the last digits of numbers: another machine's logarithm may round otherwise.
void expect_alike(const Json& a, const Json& b, const std::string& where) {
  if (a.is_array() && b.is_array()) {
    const Json::Array &left = a.as_array(where), &right = b.as_array(where);
    ASSERT_EQ(left.size(), right.size()) << where;
    for (size_t i = 0; i < left.size(); ++i)
      expect_alike(left[i], right[i], where + "/" + std::to_string(i));
  } else if (a.is_object() && b.is_object()) {
    for (const auto& [name, value] : a.as_object(where))
      expect_alike(value, b.at(name, where), where + "/" + name);
  } else if (a.is_number() && b.is_number() && where.find("/codes/") != std::string::npos) {
    EXPECT_NEAR(a.as_double(where), b.as_double(where), 1) << where;
  } else if (a.is_number() && b.is_number()) {
    const double most = std::max(std::abs(a.as_double(where)), 1e-3);
    // Bins come from weights in f32, of the machine's own vector units.
    EXPECT_NEAR(a.as_double(where), b.as_double(where), most * 2e-5) << where;
  } else {
    EXPECT_EQ(a.dump(), b.dump()) << where;
  }
}

TEST(PageScale, VectorsForTheViewerAreWhatFiguresDraw) {
  const std::filesystem::path path = test_data("page/scales.json");
  const Json made = Json::object({{"axes", golden_axes()},
                                  {"drawings", golden_drawings()},
                                  {"tone", golden_tone()},
                                  {"maps", golden_bins()}});
  support::update_golden(path, made);
  expect_alike(made, Json::parse(read_text_file(path), path.string()), "");
}

}  // namespace
}  // namespace fovea
