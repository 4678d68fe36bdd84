#include "fovea/figure/color_map.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "fovea/base/error.h"

namespace fovea {
namespace {

// Evenly spaced colours of published maps; the 256 entries are a smooth curve through them. Inferno
// and viridis: Smith and van der Walt 2015 (CC0), within 5 / 255 of the original. Cividis: Nunez,
// Anderton and Renslow 2018, within 9 / 255. Turbo: Mikhailov 2019 (Apache-2.0), within 4 / 255.
constexpr std::array<Rgb, 16> kInferno = {{{0, 0, 4},
                                           {12, 8, 38},
                                           {36, 12, 79},
                                           {66, 10, 104},
                                           {93, 18, 110},
                                           {120, 28, 109},
                                           {147, 38, 103},
                                           {174, 48, 92},
                                           {199, 62, 76},
                                           {221, 81, 58},
                                           {237, 105, 37},
                                           {248, 133, 15},
                                           {252, 165, 10},
                                           {250, 198, 45},
                                           {242, 230, 97},
                                           {252, 255, 164}}};
constexpr std::array<Rgb, 16> kViridis = {{{68, 1, 84},
                                           {72, 26, 108},
                                           {71, 47, 125},
                                           {65, 68, 135},
                                           {57, 86, 140},
                                           {49, 104, 142},
                                           {42, 120, 142},
                                           {35, 136, 142},
                                           {31, 152, 139},
                                           {34, 168, 132},
                                           {53, 183, 121},
                                           {84, 197, 104},
                                           {122, 209, 81},
                                           {165, 219, 54},
                                           {210, 226, 27},
                                           {253, 231, 37}}};
constexpr std::array<Rgb, 16> kCividis = {{{0, 34, 78},
                                           {0, 46, 108},
                                           {30, 58, 111},
                                           {53, 69, 108},
                                           {71, 81, 108},
                                           {87, 93, 109},
                                           {102, 105, 112},
                                           {117, 117, 117},
                                           {132, 130, 121},
                                           {148, 142, 119},
                                           {165, 156, 116},
                                           {183, 169, 110},
                                           {200, 184, 102},
                                           {219, 199, 90},
                                           {238, 214, 73},
                                           {254, 232, 56}}};
constexpr std::array<Rgb, 16> kTurbo = {{{48, 18, 59},
                                         {65, 67, 167},
                                         {71, 113, 233},
                                         {62, 155, 254},
                                         {34, 197, 226},
                                         {26, 228, 182},
                                         {70, 248, 132},
                                         {136, 255, 78},
                                         {185, 246, 53},
                                         {225, 221, 55},
                                         {250, 186, 57},
                                         {253, 141, 39},
                                         {240, 91, 18},
                                         {214, 53, 6},
                                         {175, 24, 1},
                                         {122, 4, 3}}};

double linear_light(double channel) {
  const double value = channel / 255;
  return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
}

double from_linear_light(double value) {
  const double clamped = std::clamp(value, 0.0, 1.0);
  return 255 *
         (clamped <= 0.0031308 ? clamped * 12.92 : 1.055 * std::pow(clamped, 1 / 2.4) - 0.055);
}

double luminance(Rgb color) {
  return 0.2126 * linear_light(color.red) + 0.7152 * linear_light(color.green) +
         0.0722 * linear_light(color.blue);
}

// A point in Oklab (Ottosson 2020), where equal steps look about equal.
struct Oklab {
  double l, a, b;
};

Rgb to_rgb(const Oklab& color) {
  const double l = std::pow(color.l + 0.3963377774 * color.a + 0.2158037573 * color.b, 3);
  const double m = std::pow(color.l - 0.1055613458 * color.a - 0.0638541728 * color.b, 3);
  const double s = std::pow(color.l - 0.0894841775 * color.a - 1.2914855480 * color.b, 3);
  const auto channel = [](double value) {
    return static_cast<uint8_t>(std::lround(from_linear_light(value)));
  };
  return {channel(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
          channel(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
          channel(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s)};
}

Oklab to_oklab(Rgb color) {
  const double r = linear_light(color.red);
  const double g = linear_light(color.green);
  const double b = linear_light(color.blue);
  const double l = std::cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const double m = std::cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const double s = std::cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return {0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
          1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
          0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s};
}

// A cubic through evenly spaced values; the slope at one is the mean of the steps on its two sides
// (Catmull and Rom 1974).
double curve(std::span<const double> values, double position) {
  const auto slope = [&](size_t i) {
    const size_t before = i == 0 ? 0 : i - 1;
    const size_t after = std::min(i + 1, values.size() - 1);
    return (values[after] - values[before]) / static_cast<double>(after - before);
  };
  const double place = position * static_cast<double>(values.size() - 1);
  const size_t i = std::min(static_cast<size_t>(place), values.size() - 2);
  const double t = place - static_cast<double>(i);
  return values[i] * (1 + 2 * t) * (1 - t) * (1 - t) + slope(i) * t * (1 - t) * (1 - t) +
         values[i + 1] * t * t * (3 - 2 * t) + slope(i + 1) * t * t * (t - 1);
}

std::array<Rgb, 256> curve_through(const std::array<Rgb, 16>& anchors) {
  std::array<Rgb, 256> table{};
  for (uint8_t Rgb::*channel : {&Rgb::red, &Rgb::green, &Rgb::blue}) {
    std::array<double, 16> values{};
    std::ranges::transform(anchors, values.begin(),
                           [&](const Rgb& color) { return static_cast<double>(color.*channel); });
    for (size_t i = 0; i < table.size(); ++i) {
      const double value = curve(values, static_cast<double>(i) / 255);
      table[i].*channel = static_cast<uint8_t>(std::clamp(std::lround(value), 0L, 255L));
    }
  }
  return table;
}

// Straight pieces in Oklab between evenly spaced colours.
std::array<Rgb, 256> pieces_through(std::span<const Rgb> anchors) {
  std::array<Rgb, 256> table{};
  for (size_t i = 0; i < table.size(); ++i) {
    const double place = static_cast<double>(i) / 255 * static_cast<double>(anchors.size() - 1);
    const size_t piece = std::min(static_cast<size_t>(place), anchors.size() - 2);
    const double t = place - static_cast<double>(piece);
    const Oklab from = to_oklab(anchors[piece]);
    const Oklab to = to_oklab(anchors[piece + 1]);
    table[i] = to_rgb(
        {from.l + (to.l - from.l) * t, from.a + (to.a - from.a) * t, from.b + (to.b - from.b) * t});
  }
  return table;
}

// White, pale orange, orange, red, dark red.
constexpr std::array<Rgb, 5> kPaper = {
    {{255, 255, 255}, {254, 222, 178}, {249, 150, 72}, {208, 62, 38}, {112, 8, 24}}};
// Blue, grey, red. The middle is grey and not white, so that it shows on paper.
constexpr std::array<Rgb, 7> kRdBu = {{{16, 58, 122},
                                       {52, 122, 184},
                                       {150, 195, 222},
                                       {238, 238, 238},
                                       {240, 170, 142},
                                       {200, 72, 70},
                                       {112, 8, 30}}};

// For signed values over a dark ground: lightness grows with the size on both sides, and the middle
// is as dark as the ground.
constexpr std::array<Rgb, 7> kIceFire = {{{200, 236, 255},
                                          {110, 190, 255},
                                          {40, 120, 220},
                                          {60, 60, 64},
                                          {214, 70, 40},
                                          {255, 150, 60},
                                          {255, 232, 150}}};

const std::vector<ColorMap>& all_maps() {
  static const std::vector<ColorMap> maps = {
      {"inferno", "black, purple, orange, pale yellow; the default", false,
       curve_through(kInferno)},
      {"cividis", "blue, grey, yellow; looks the same with red-green colour blindness", false,
       curve_through(kCividis)},
      {"viridis", "purple, green, yellow", false, curve_through(kViridis)},
      {"paper", "white, orange, dark red; for print", false, pieces_through(kPaper)},
      {"RdBu", "blue, grey, red; for differences, zero is the middle", true, pieces_through(kRdBu)},
      {"ice-fire", "pale blue, dark grey, pale yellow; for signed values over a dark picture", true,
       pieces_through(kIceFire)},
      {"turbo", "rainbow; not perceptually uniform: it shows edges that are not in the numbers",
       false, curve_through(kTurbo)},
  };
  return maps;
}

}  // namespace

Rgb ColorMap::at(double position) const {
  if (!(position > 0)) return table_.front();
  return table_[static_cast<size_t>(std::lround(std::min(position, 1.0) * 255))];
}

const ColorMap& inferno() {
  return all_maps().front();
}

const ColorMap& grey_colors() {
  static const ColorMap map("grey", "white to nearly black", false,
                            pieces_through(std::array<Rgb, 2>{{{255, 255, 255}, {40, 40, 46}}}));
  return map;
}

const ColorMap& color_map(std::string_view name) {
  for (const ColorMap& map : all_maps()) {
    if (map.name() == name) return map;
  }
  fail(ErrorKind::kInvalidArgument, "there is no colour map '{}'; there are {}", name,
       fmt::join(color_map_names(), ", "));
}

const std::vector<std::string_view>& color_map_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> result;
    for (const ColorMap& map : all_maps()) result.push_back(map.name());
    return result;
  }();
  return names;
}

Rgb category_color(int64_t index) {
  constexpr std::array<Rgb, 8> kColors = {{{0, 107, 180},
                                           {222, 99, 0},
                                           {0, 148, 110},
                                           {196, 72, 146},
                                           {224, 166, 0},
                                           {66, 176, 228},
                                           {120, 60, 40},
                                           {96, 96, 104}}};
  const Rgb color = kColors[static_cast<size_t>(index) % kColors.size()];
  const bool darkened = static_cast<size_t>(index) / kColors.size() % 2 == 1;
  return darkened ? mix(color, {0, 0, 0}, 0.4) : color;
}

Rgb object_color(int64_t index) {
  constexpr std::array<Rgb, 8> kColors = {{{255, 214, 10},
                                           {64, 190, 255},
                                           {255, 120, 90},
                                           {60, 214, 160},
                                           {255, 150, 220},
                                           {250, 250, 250},
                                           {255, 166, 48},
                                           {186, 160, 255}}};
  const Rgb color = kColors[static_cast<size_t>(index) % kColors.size()];
  const bool darkened = static_cast<size_t>(index) / kColors.size() % 2 == 1;
  return darkened ? mix(color, {0, 0, 0}, 0.25) : color;
}

double contrast(Rgb a, Rgb b) {
  const auto [low, high] = std::minmax({luminance(a), luminance(b)});
  return (high + 0.05) / (low + 0.05);
}

Rgb text_color_on(Rgb background) {
  constexpr Rgb kDark{0, 0, 0};
  constexpr Rgb kLight{255, 255, 255};
  return contrast(background, kDark) >= contrast(background, kLight) ? kDark : kLight;
}

Rgb mix(Rgb a, Rgb b, double share) {
  const auto channel = [share](uint8_t from, uint8_t to) {
    return static_cast<uint8_t>(std::lround(from + (to - from) * std::clamp(share, 0.0, 1.0)));
  };
  return {channel(a.red, b.red), channel(a.green, b.green), channel(a.blue, b.blue)};
}

}  // namespace fovea
