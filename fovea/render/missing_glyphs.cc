#include "fovea/render/missing_glyphs.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "fovea/base/error.h"

namespace fovea {
namespace {

bool has_no_letter(gunichar character) {
  switch (g_unichar_type(character)) {
    case G_UNICODE_PRIVATE_USE:
    case G_UNICODE_UNASSIGNED:
    case G_UNICODE_SURROGATE:
      return true;
    default:
      return false;
  }
}

bool is_emoji(gunichar character) {
  return (character >= 0x1f000 && character <= 0x1faff) ||
         (character >= 0x2600 && character <= 0x27bf) ||
         (character >= 0x2b00 && character <= 0x2bff) || character == 0xfe0f;
}

// The package of Debian that has fonts for it.
std::string_view package_for(gunichar character) {
  if (is_emoji(character)) return "fonts-noto-color-emoji";
  switch (g_unichar_get_script(character)) {
    case G_UNICODE_SCRIPT_HAN:
    case G_UNICODE_SCRIPT_HIRAGANA:
    case G_UNICODE_SCRIPT_KATAKANA:
    case G_UNICODE_SCRIPT_HANGUL:
    case G_UNICODE_SCRIPT_BOPOMOFO:
      return "fonts-noto-cjk";
    default:
      // Marks of East Asian texts belong to no script: "、", "。", full-width letters.
      return g_unichar_iswide(character) ? "fonts-noto-cjk" : "fonts-noto-core";
  }
}

constexpr gunichar kShape = 0xfffc;  // stands for a shape of our own

// Of a glyph that stands for a missing character, that character; 0 of any other.
gunichar missing_in(PangoGlyph glyph) {
  if (glyph == PANGO_GLYPH_EMPTY || (glyph & PANGO_GLYPH_UNKNOWN_FLAG) == 0) return 0;
  const gunichar character = glyph & ~PANGO_GLYPH_UNKNOWN_FLAG;
  return character == kShape ? 0 : character;
}

gunichar first_missing(PangoLayout* layout) {
  gunichar missing = 0;
  PangoLayoutIter* place = pango_layout_get_iter(layout);
  do {
    const PangoLayoutRun* run = pango_layout_iter_get_run_readonly(place);
    for (int i = 0; run != nullptr && missing == 0 && i < run->glyphs->num_glyphs; ++i) {
      missing = missing_in(run->glyphs->glyphs[i].glyph);
    }
  } while (missing == 0 && pango_layout_iter_next_run(place));
  pango_layout_iter_free(place);
  return missing;
}

}  // namespace

std::string with_named_characters(const std::string& text) {
  std::string named;
  for (const char* at = text.c_str(); *at != '\0'; at = g_utf8_next_char(at)) {
    const gunichar character = g_utf8_get_char(at);
    if (has_no_letter(character)) {
      named += fmt::format("U+{:04X}", character);
    } else {
      named.append(at, static_cast<size_t>(g_utf8_next_char(at) - at));
    }
  }
  return named;
}

void check_glyphs(PangoLayout* layout) {
  if (pango_layout_get_unknown_glyphs_count(layout) == 0) return;
  const gunichar missing = first_missing(layout);
  if (missing == 0) return;
  if (has_no_letter(missing)) {
    fail(ErrorKind::kNotFound,
         "the text has U+{:04X}, a private or unassigned character, which no font can draw; choose "
         "another view, or write the numbers",
         missing);
  }
  std::array<char, 7> letter{};
  g_unichar_to_utf8(missing, letter.data());
  fail(ErrorKind::kNotFound,
       "no font on this machine has “{}” (U+{:04X}); install one, on Debian `apt install {}`, or "
       "write the numbers",
       letter.data(), missing, package_for(missing));
}

}  // namespace fovea
