#include "fovea/render/text_block.h"

#include <algorithm>

#include "fovea/base/utf8.h"
#include "fovea/render/fonts.h"
#include "fovea/render/missing_glyphs.h"

namespace fovea {
namespace {

constexpr std::string_view kRaisedT = "\u1d40";  // a transpose sign, which Inter lacks

PangoAttribute* over_range(PangoAttribute* attribute, size_t begin, size_t end) {
  attribute->start_index = static_cast<guint>(begin);
  attribute->end_index = static_cast<guint>(end);
  return attribute;
}

// Draws K-transposed with a small raised T of the shipped font.
std::string with_raised_letters(const std::string& text, double size, PangoAttrList* attributes) {
  std::string result;
  size_t from = 0;
  for (size_t at = text.find(kRaisedT); at != std::string::npos; at = text.find(kRaisedT, from)) {
    result += text.substr(from, at - from);
    const size_t begin = result.size();
    result += 'T';
    pango_attr_list_insert(attributes, over_range(pango_attr_scale_new(0.65), begin, begin + 1));
    const int rise = static_cast<int>(size * 0.36 * PANGO_SCALE);
    pango_attr_list_insert(attributes, over_range(pango_attr_rise_new(rise), begin, begin + 1));
    from = at + kRaisedT.size();
  }
  return result + text.substr(from);
}

constexpr gunichar kJoiner = 0x200d;

// Marks, variation selectors, joiners and skin tones belong to the character before them.
bool joins_before(gunichar character) {
  return g_unichar_iszerowidth(character) || (character >= 0xfe00 && character <= 0xfe0f) ||
         (character >= 0x1f3fb && character <= 0x1f3ff);
}

std::string with_lines(std::string_view text) {
  std::string result;
  size_t from = 0;
  while (from <= text.size()) {
    const size_t end = std::min(text.find('\n', from), text.size());
    if (from > 0) result += '\n';
    result += to_one_line(text.substr(from, end - from));
    from = end + 1;
  }
  return result;
}

}  // namespace

PangoLayout* new_layout(const std::string& text, const TextStyle& style) {
  PangoAttrList* attributes = pango_attr_list_new();
  const std::string drawn = with_raised_letters(text, style.size, attributes);
  PangoLayout* layout = pango_layout_new(font_context(drawn));
  PangoFontDescription* font = new_font_description(style.size, style.strong);
  pango_layout_set_font_description(layout, font);
  pango_font_description_free(font);
  // Figures of equal width, so that columns of numbers stand straight.
  pango_attr_list_insert(attributes, pango_attr_font_features_new("tnum=1"));
  pango_layout_set_attributes(layout, attributes);
  pango_attr_list_unref(attributes);
  pango_layout_set_text(layout, drawn.data(), static_cast<int>(drawn.size()));
  check_glyphs(layout);
  return layout;
}

TextBlock adopt_layout(PangoLayout* layout, const TextStyle& style) {
  TextBlock block;
  block.layout_ = {layout, [](PangoLayout* owned) { g_object_unref(owned); }};
  block.style_ = style;
  PangoRectangle logical;
  pango_layout_get_extents(layout, nullptr, &logical);
  block.width_ = static_cast<double>(logical.width) / PANGO_SCALE;
  block.height_ = static_cast<double>(logical.height) / PANGO_SCALE;
  block.baseline_ = static_cast<double>(pango_layout_get_baseline(layout)) / PANGO_SCALE;
  return block;
}

TextBlock TextBlock::line(std::string_view text, const TextStyle& style, double widest) {
  PangoLayout* layout = new_layout(with_named_characters(to_one_line(text)), style);
  pango_layout_set_single_paragraph_mode(layout, TRUE);
  if (widest > 0) {
    int width = 0;
    pango_layout_get_size(layout, &width, nullptr);
    if (width > widest * PANGO_SCALE) {
      pango_layout_set_ellipsize(layout, PANGO_ELLIPSIZE_END);
      pango_layout_set_width(layout, static_cast<int>(widest * PANGO_SCALE));
      // Else a short right-to-left label would stand at the far side of the width.
      pango_layout_set_alignment(layout, PANGO_ALIGN_LEFT);
    }
  }
  return adopt_layout(layout, style);
}

TextBlock TextBlock::paragraph(std::string_view text, const TextStyle& style, double width) {
  PangoLayout* layout = new_layout(with_named_characters(with_lines(text)), style);
  pango_layout_set_wrap(layout, PANGO_WRAP_WORD_CHAR);
  pango_layout_set_width(layout, static_cast<int>(width * PANGO_SCALE));
  pango_layout_set_line_spacing(layout, 1.12F);
  return adopt_layout(layout, style);
}

TextBlock TextBlock::stacked(std::string_view text, const TextStyle& style) {
  const std::string valid = with_named_characters(to_one_line(text));
  std::string lines;
  gunichar before = 0;
  for (const char* place = valid.c_str(); *place != '\0';) {
    const char* next = g_utf8_next_char(place);
    const gunichar character = g_utf8_get_char(place);
    if (!lines.empty() && !joins_before(character) && before != kJoiner) lines += '\n';
    lines.append(place, next);
    before = character;
    place = next;
  }
  PangoLayout* layout = new_layout(lines, style);
  pango_layout_set_alignment(layout, PANGO_ALIGN_CENTER);
  return adopt_layout(layout, style);
}

bool is_upright_script(std::string_view text) {
  const std::string valid = to_one_line(text);
  bool any = false;
  for (const char* place = valid.c_str(); *place != '\0'; place = g_utf8_next_char(place)) {
    const gunichar character = g_utf8_get_char(place);
    if (!g_unichar_iswide(character) && !joins_before(character)) return false;
    any = any || g_unichar_iswide(character);
  }
  return any;
}

}  // namespace fovea
