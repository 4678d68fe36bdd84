// Running text: the chosen word red, all others shaded by their weight.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pango/pango.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/capture/words.h"
#include "fovea/figure/running_text.h"
#include "fovea/render/canvas.h"
#include "fovea/render/color_bar.h"
#include "fovea/render/draw.h"

namespace fovea {
namespace {

constexpr double kReadWidth = 620;
constexpr TextStyle kTextStyle{.size = 15, .color = kInk};
constexpr double kChipSize = 9.5;
constexpr double kChipPadding = 4;
constexpr double kChipSpace = 2;
constexpr double kAscent = 14;  // of the shading, above the baseline
constexpr double kDescent = 5;  // and below it
constexpr double kMarkRadius = 2.5;
constexpr size_t kLargestNamed = 3;

struct Shade {
  bool chosen = false;
  bool forbidden = false;
  Rgb ground = kWhite;
  Rgb ink = kInk;
};

struct ReadPlan {
  RunningText text;
  std::vector<Shade> shades;
  std::vector<TextBlock> chips;  // empty where the position is text
  TextBlock block;
};

// Special tokens are grey, on a scale of their own: 0 to 1, or to the largest of them; of times
// even where they lie on the scale of the others.
bool is_grey(const ReadFigure& figure, size_t i) {
  return figure.axis.positions[i].special && !figure.scale.is_signed() &&
         static_cast<int64_t>(i) != figure.chosen && !std::isnan(figure.weights[i]);
}

Rgb grey_of(const ReadFigure& figure, size_t i) {
  if (figure.scale.times_even) {
    return grey_colors().at(place_on(figure.scale, double{figure.weights[i]}));
  }
  double most = 1;
  for (size_t k = 0; k < figure.weights.size(); ++k) {
    if (is_grey(figure, k)) most = std::max(most, double{figure.weights[k]});
  }
  return grey_colors().at(double{figure.weights[i]} / most);
}

Shade shade_of(const ReadFigure& figure, const ColorAxis& axis, size_t i) {
  if (static_cast<int64_t>(i) == figure.chosen) return {.chosen = true, .ink = kAccent};
  if (std::isnan(figure.weights[i])) return {.forbidden = true, .ink = kMuted};
  const Rgb ground = is_grey(figure, i) ? grey_of(figure, i) : axis.at(figure.weights[i]);
  return {.ground = ground, .ink = text_color_on(ground)};
}

// "[CLS] .33": grey alone is hard to read off.
std::string chip_text(const ReadFigure& figure, size_t i) {
  const std::string& name = figure.axis.positions[i].text;
  if (!is_grey(figure, i)) return name;
  if (figure.scale.times_even) return name + " " + scale_text(figure.scale, figure.weights[i]);
  std::string number = fmt::format("{:.2f}", figure.weights[i]);
  if (number.starts_with("0.")) number.erase(0, 1);
  return name + " " + number;
}

PangoAttribute* over_place(PangoAttribute* attribute, const TextPlace& place) {
  attribute->start_index = static_cast<guint>(place.begin);
  attribute->end_index = static_cast<guint>(place.end);
  return attribute;
}

PangoAttribute* room_for(const TextBlock& chip) {
  PangoRectangle room{
      0, static_cast<int>(-kAscent * PANGO_SCALE),
      static_cast<int>((chip.width() + 2 * (kChipPadding + kChipSpace)) * PANGO_SCALE),
      static_cast<int>((kAscent + kDescent) * PANGO_SCALE)};
  return pango_attr_shape_new(&room, &room);
}

TextBlock lay_out(const ReadPlan& plan) {
  PangoLayout* layout = new_layout(plan.text.text, kTextStyle);
  PangoAttrList* attributes = pango_attr_list_copy(pango_layout_get_attributes(layout));
  for (size_t i = 0; i < plan.shades.size(); ++i) {
    const TextPlace& place = plan.text.places[i];
    const Rgb ink = plan.shades[i].ink;
    if (place.chip) {
      pango_attr_list_insert(attributes, over_place(room_for(plan.chips[i]), place));
      continue;
    }
    const auto channel = [](uint8_t value) { return static_cast<guint16>(value * 257); };
    pango_attr_list_insert(
        attributes, over_place(pango_attr_foreground_new(channel(ink.red), channel(ink.green),
                                                         channel(ink.blue)),
                               place));
    if (plan.shades[i].chosen) {
      pango_attr_list_insert(attributes,
                             over_place(pango_attr_weight_new(PANGO_WEIGHT_SEMIBOLD), place));
    }
  }
  pango_layout_set_attributes(layout, attributes);
  pango_attr_list_unref(attributes);
  pango_layout_set_wrap(layout, PANGO_WRAP_WORD_CHAR);
  int natural = 0;  // a short text is no wider than it is, in either direction
  pango_layout_get_size(layout, &natural, nullptr);
  pango_layout_set_width(layout, std::min(natural + 1, static_cast<int>(kReadWidth * PANGO_SCALE)));
  pango_layout_set_line_spacing(layout, 1.4F);
  return adopt_layout(layout, kTextStyle);
}

// The rectangles of a place, one for each line and direction it runs through.
std::vector<Rect> rects_of(PangoLayoutLine* line, double baseline, const TextPlace& place) {
  int* ranges = nullptr;
  int count = 0;
  pango_layout_line_get_x_ranges(line, static_cast<int>(place.begin), static_cast<int>(place.end),
                                 &ranges, &count);
  std::vector<Rect> rects;
  for (int k = 0; k < count; ++k) {
    const double left = static_cast<double>(ranges[2 * k]) / PANGO_SCALE;
    const double width = static_cast<double>(ranges[2 * k + 1]) / PANGO_SCALE - left;
    const double share = width / place.parts;
    rects.push_back({left + share * place.part, baseline - kAscent, share, kAscent + kDescent});
  }
  g_free(ranges);
  return rects;
}

void draw_chip(Canvas& canvas, const TextBlock& chip, const Shade& shade, const Rect& room) {
  const double height = chip.height() + 3;
  const Rect box{room.x + kChipSpace, room.y + (room.height - height) / 2,
                 room.width - 2 * kChipSpace, height};
  canvas.fill_rounded(box, height / 2, shade.ground);
  canvas.outline(box,
                 {.color = shade.chosen ? kAccent : kFaint, .width = shade.chosen ? 1.25 : 0.75},
                 height / 2);
  canvas.text(chip,
              {box.x + kChipPadding, box.y + height / 2 + chip.cap_height() / 2 - chip.baseline()});
}

void draw_shade(Canvas& canvas, const Shade& shade, const TextPlace& place, const Rect& rect) {
  if (shade.forbidden) return;
  if (shade.chosen) {
    canvas.outline({rect.x - 1.5, rect.y - 0.5, rect.width + 3, rect.height + 1},
                   {.color = kAccent, .width = 1.25}, kMarkRadius + 1);
    return;
  }
  // A hair of white between neighbours shows where a word is cut into tokens.
  const double gap = place.parts == 1 ? 0.5 : 0;
  canvas.fill_rounded({rect.x - 1 + gap, rect.y, rect.width + 2 - 2 * gap, rect.height},
                      kMarkRadius, shade.ground);
}

// Draws what lies on one line of text; `order` are the positions as they come in the text, and
// `first` is moved on to the first that ends after the line's begin.
void draw_line_shades(Canvas& canvas, const ReadPlan& plan, Point at, PangoLayoutIter* lines,
                      const std::vector<size_t>& order, size_t& first) {
  PangoLayoutLine* line = pango_layout_iter_get_line_readonly(lines);
  const auto begin = static_cast<size_t>(pango_layout_line_get_start_index(line));
  const size_t end = begin + static_cast<size_t>(pango_layout_line_get_length(line));
  const double baseline = static_cast<double>(pango_layout_iter_get_baseline(lines)) / PANGO_SCALE;
  const std::vector<TextPlace>& places = plan.text.places;
  while (first < order.size() && places[order[first]].end <= begin) ++first;
  for (size_t k = first; k < order.size() && places[order[k]].begin < end; ++k) {
    const size_t i = order[k];
    for (Rect rect : rects_of(line, baseline, places[i])) {
      rect.x += at.x;
      rect.y += at.y;
      if (places[i].chip) {
        draw_chip(canvas, plan.chips[i], plan.shades[i], rect);
      } else {
        draw_shade(canvas, plan.shades[i], places[i], rect);
      }
    }
  }
}

void draw_read_plan(Canvas& canvas, const ReadPlan& plan, Point at) {
  std::vector<size_t> order(plan.shades.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {}, [&](size_t i) { return plan.text.places[i].begin; });
  size_t first = 0;
  PangoLayoutIter* lines = pango_layout_get_iter(plan.block.layout());
  do {
    draw_line_shades(canvas, plan, at, lines, order, first);
  } while (pango_layout_iter_next_line(lines));
  pango_layout_iter_free(lines);
  canvas.text(plan.block, at);
}

// Small ones with the digit that says something.
std::string number(float value) {
  const double size = std::abs(double{value});
  const bool is_small = size > 0 && size < 0.005;
  return tick_text(value, is_small ? std::pow(10, std::floor(std::log10(size))) : 0.01);
}

// Names the largest weights, which colour alone does not tell.
std::string largest_text(const ReadFigure& figure) {
  std::vector<size_t> order;
  for (size_t i = 0; i < figure.weights.size(); ++i) {
    if (!std::isnan(figure.weights[i]) && static_cast<int64_t>(i) != figure.chosen) {
      order.push_back(i);
    }
  }
  std::ranges::stable_sort(order, [&](size_t a, size_t b) {
    return std::abs(figure.weights[a]) > std::abs(figure.weights[b]);
  });
  order.resize(std::min(order.size(), kLargestNamed));
  const std::vector<std::string> numbers = label_numbers(figure.axis);
  std::vector<std::string> names;
  for (const size_t i : order) {
    // What is in front of a part is not known here.
    names.push_back(fmt::format("\u2068{}{}\u2069 {}", to_one_line(figure.axis.positions[i].text),
                                figure.place.first == 0 ? numbers[i] : "",
                                number(figure.weights[i])));
  }
  if (figure.chosen >= 0) {
    const float self = figure.weights[static_cast<size_t>(figure.chosen)];
    if (!std::isnan(self)) names.push_back("itself " + number(self));
  }
  std::string text = fmt::format("Largest: {}", fmt::join(names, " \u00b7 "));
  if (std::ranges::any_of(figure.weights, [](float value) { return std::isnan(value); })) {
    text += ". Words without shading: not allowed by the mask";
  }
  return text;
}

Body legend(const ReadFigure& figure, const ColorAxis& axis) {
  auto bar = std::make_shared<FlatColorBar>(axis, figure.value_name);
  const TextBlock largest = TextBlock::paragraph(largest_text(figure), kNoteStyle, kReadWidth);
  Body body;
  body.width = std::max(bar->width(), largest.width());
  body.height = bar->height() + 8 + largest.height();
  body.draw = [bar, largest](Canvas& canvas, Point at) {
    bar->draw(canvas, at);
    canvas.text(largest, {at.x, at.y + bar->height() + 8});
  };
  return body;
}

// The text alone, without a legend.
Body shaded_text(const ReadFigure& figure, const ColorAxis& axis) {
  const size_t count = figure.axis.positions.size();
  if (count == 0 || figure.weights.size() != count || figure.chosen < -1 ||
      figure.chosen >= static_cast<int64_t>(count)) {
    fail(ErrorKind::kInvalidArgument,
         "a text of {} positions with {} weights and position {} chosen cannot be drawn", count,
         figure.weights.size(), figure.chosen);
  }
  auto plan = std::make_shared<ReadPlan>(ReadPlan{.text = running_text(figure.axis)});
  for (size_t i = 0; i < count; ++i) {
    plan->shades.push_back(shade_of(figure, axis, i));
    const TextStyle style{
        .size = kChipSize, .color = plan->shades[i].ink, .strong = plan->shades[i].chosen};
    plan->chips.push_back(plan->text.places[i].chip
                              ? TextBlock::line(chip_text(figure, i), style, 140)
                              : TextBlock());
  }
  plan->block = lay_out(*plan);
  Body body;
  body.width = plan->block.width();
  body.height = plan->block.height();
  body.draw = [plan](Canvas& canvas, Point at) { draw_read_plan(canvas, *plan, at); };
  return body;
}

}  // namespace

Body draw_read(const ReadFigure& figure, const ColorMap& colors) {
  const ColorAxis axis(colors, figure.scale);
  return stacked({shaded_text(figure, axis), legend(figure, axis)}, 22);
}

Body draw_reading(const ReadingFigure& figure, const ColorMap& colors) {
  if (figure.lines.empty()) {
    fail(ErrorKind::kInvalidArgument, "a reading of no words cannot be drawn");
  }
  const ColorAxis axis(colors, figure.scale);
  std::vector<Body> lines;
  for (const ReadFigure& line : figure.lines) lines.push_back(shaded_text(line, axis));
  auto bar = std::make_shared<FlatColorBar>(axis, figure.value_name);
  Body legend{.width = bar->width(), .height = bar->height()};
  legend.draw = [bar](Canvas& canvas, Point at) { bar->draw(canvas, at); };
  return stacked({stacked(std::move(lines), 9), std::move(legend)}, 22);
}

}  // namespace fovea
