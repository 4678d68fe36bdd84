#include "fovea/base/utf8.h"

#include <fmt/format.h>
#include <utf8proc.h>

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

int width_of(const Character& character) {
  return character.code < 0 ? 1 : utf8proc_charwidth(character.code);
}

bool is_control(utf8proc_int32_t code) {
  const auto category = utf8proc_category(code);
  return category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_ZL ||
         category == UTF8PROC_CATEGORY_ZP;
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

std::string to_one_line(std::string_view text) {
  std::string line;
  for (size_t offset = 0; offset < text.size();) {
    const Character character = character_at(text, offset);
    if (character.code < 0) {
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
    const Character character = character_at(text, offset);
    width += width_of(character);
    offset += character.bytes;
  }
  return width;
}

std::string shorten(std::string_view text, int columns) {
  if (columns <= 0) return "";
  if (display_width(text) <= columns) return std::string(text);
  int width = 0;
  size_t offset = 0;
  while (offset < text.size()) {
    const Character character = character_at(text, offset);
    if (width + width_of(character) > columns - 1) break;
    width += width_of(character);
    offset += character.bytes;
  }
  return std::string(text.substr(0, offset)) + "…";
}

}  // namespace fovea
