#include "fovea/base/utf8.h"

#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>

namespace fovea {
namespace {

struct Character {
  utf8proc_int32_t code = -1;  // -1: not valid here
  size_t bytes = 1;
};

Character character_at(std::string_view text, size_t offset) {
  const auto* data = reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + offset;
  Character character;
  const auto count =
      utf8proc_iterate(data, static_cast<utf8proc_ssize_t>(text.size() - offset), &character.code);
  if (count > 0) character.bytes = static_cast<size_t>(count);
  return character;
}

int width_of(utf8proc_int32_t code) {
  return code < 0 ? 1 : utf8proc_charwidth(code);
}

bool is_emoji(utf8proc_int32_t code) {
  return code >= 0 &&
         utf8proc_get_property(code)->boundclass == UTF8PROC_BOUNDCLASS_EXTENDED_PICTOGRAPHIC;
}

bool is_regional_indicator(utf8proc_int32_t code) {
  return code >= 0x1F1E6 && code <= 0x1F1FF;
}

// What a reader sees as one character, and how many terminal columns it takes.
struct Grapheme {
  size_t bytes = 0;
  int width = 0;
};

Grapheme grapheme_at(std::string_view text, size_t offset) {
  constexpr utf8proc_int32_t kTextStyle = 0xFE0E;
  constexpr utf8proc_int32_t kEmojiStyle = 0xFE0F;
  constexpr utf8proc_int32_t kKeycap = 0x20E3;
  const Character first = character_at(text, offset);
  Grapheme grapheme{first.bytes, width_of(first.code)};
  // Emoji sequences (joined, flags, with a skin colour or a style selector) are one wide sign.
  bool one_sign = false;
  utf8proc_int32_t last = first.code;
  utf8proc_int32_t state = 0;
  while (last >= 0 && offset + grapheme.bytes < text.size()) {
    const Character next = character_at(text, offset + grapheme.bytes);
    if (next.code < 0 || utf8proc_grapheme_break_stateful(last, next.code, &state) != 0) break;
    one_sign = one_sign || next.code == kEmojiStyle || next.code == kKeycap ||
               (is_emoji(first.code) && next.code != kTextStyle) ||
               is_regional_indicator(next.code);
    grapheme.bytes += next.bytes;
    grapheme.width += width_of(next.code);
    last = next.code;
  }
  if (one_sign) grapheme.width = 2;
  return grapheme;
}

bool is_control(utf8proc_int32_t code) {
  const auto category = utf8proc_category(code);
  return category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_ZL ||
         category == UTF8PROC_CATEGORY_ZP;
}

bool is_noncharacter(int32_t code) {
  return (code >= 0xfdd0 && code <= 0xfdef) || (code & 0xfffe) == 0xfffe;
}

// Characters that move the cursor or reorder the line: C1 controls and bidirectional marks.
bool is_unsafe(std::string_view character) {
  if (character.size() == 2 && character[0] == '\xc2') {
    return static_cast<unsigned char>(character[1]) < 0xa0;
  }
  static constexpr std::string_view kMarks[] = {"\u061c", "\u200e", "\u200f", "\u2028", "\u2029",
                                                "\u202a", "\u202b", "\u202c", "\u202d", "\u202e",
                                                "\u2066", "\u2067", "\u2068", "\u2069", "\ufeff"};
  return std::ranges::find(kMarks, character) != std::end(kMarks);
}

size_t character_bytes(char first) {
  const auto byte = static_cast<unsigned char>(first);
  return byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

}  // namespace

size_t find_invalid_utf8(std::string_view text) {
  for (size_t offset = 0; offset < text.size();) {
    const Character character = character_at(text, offset);
    if (character.code < 0) return offset;
    offset += character.bytes;
  }
  return std::string_view::npos;
}

std::string to_valid_utf8(std::string_view text) {
  std::string valid;
  for (size_t offset = 0; offset < text.size();) {
    const Character character = character_at(text, offset);
    valid += character.code < 0 ? std::string_view("\uFFFD") : text.substr(offset, character.bytes);
    offset += character.bytes;
  }
  return valid;
}

std::string to_characters(std::string_view text) {
  std::string characters;
  for (size_t offset = 0; offset < text.size();) {
    const Character character = character_at(text, offset);
    characters += character.code < 0 || is_noncharacter(character.code)
                      ? std::string_view("\uFFFD")
                      : text.substr(offset, character.bytes);
    offset += character.bytes;
  }
  return characters;
}

std::string to_one_line(std::string_view text) {
  std::string line;
  for (size_t offset = 0; offset < text.size();) {
    const Character character = character_at(text, offset);
    if (character.code < 0 || is_noncharacter(character.code)) {
      line += "\uFFFD";
    } else if (character.code == '\n') {
      line += "\\n";
    } else if (character.code == '\t') {
      line += "\\t";
    } else if (is_control(character.code)) {
      const auto code = static_cast<unsigned>(character.code);
      line += code < 0x100 ? fmt::format("\\x{:02x}", code) : fmt::format("\\u{:04x}", code);
    } else {
      line += text.substr(offset, character.bytes);
    }
    offset += character.bytes;
  }
  return line;
}

int display_width(std::string_view text) {
  int width = 0;
  for (size_t offset = 0; offset < text.size();) {
    const Grapheme grapheme = grapheme_at(text, offset);
    width += grapheme.width;
    offset += grapheme.bytes;
  }
  return width;
}

std::string shorten(std::string_view text, int columns) {
  if (columns <= 0) return "";
  if (display_width(text) <= columns) return std::string(text);
  int width = 0;
  size_t offset = 0;
  while (offset < text.size()) {
    const Grapheme grapheme = grapheme_at(text, offset);
    if (width + grapheme.width > columns - 1) break;
    width += grapheme.width;
    offset += grapheme.bytes;
  }
  return std::string(text.substr(0, offset)) + "…";
}

std::string quote_name(std::string_view name) {
  return "'" + shorten(name, 90) + "'";
}

std::vector<std::string_view> graphemes(std::string_view text) {
  std::vector<std::string_view> parts;
  for (size_t offset = 0; offset < text.size();) {
    parts.push_back(text.substr(offset, grapheme_at(text, offset).bytes));
    offset += parts.back().size();
  }
  return parts;
}

bool has_right_to_left(std::string_view text) {
  for (size_t offset = 0; offset < text.size();) {
    const Character character = character_at(text, offset);
    if (character.code >= 0) {
      const auto direction = utf8proc_get_property(character.code)->bidi_class;
      if (direction == UTF8PROC_BIDI_CLASS_R || direction == UTF8PROC_BIDI_CLASS_AL) return true;
    }
    offset += character.bytes;
  }
  return false;
}

std::string printable(std::string_view text) {
  if (text == " ") return "␣";
  const std::string valid = to_valid_utf8(text);
  std::string result;
  for (size_t offset = 0; offset < valid.size();) {
    const std::string_view character =
        std::string_view(valid).substr(offset, character_bytes(valid[offset]));
    const auto first = static_cast<unsigned char>(character.front());
    if (first == '\n' || first == '\r') {
      result += "↵";
    } else if (first == '\t') {
      result += "⇥";
    } else if (first < 0x20 || first == 0x7f || is_unsafe(character)) {
      result += "\uFFFD";
    } else {
      result += character;
    }
    offset += character.size();
  }
  return result;
}

std::string isolated(std::string_view text) {
  const std::string safe = printable(text);
  return has_right_to_left(safe) ? "\u2068" + safe + "\u2069" : safe;
}

}  // namespace fovea
