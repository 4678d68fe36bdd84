#include "fovea/text/token_display.h"

#include <fmt/format.h>

#include "fovea/base/utf8.h"
#include "fovea/text/unicode.h"

namespace fovea {
namespace {

// How white space is shown; empty for what is not white space.
std::string_view space_symbol(char32_t code) {
  switch (code) {
    case '\n':
      return "↵";
    case '\r':
      return "␍";
    case '\t':
      return "⇥";
    case ' ':
    case 0xA0:
    case 0x3000:
      return "␣";
    default:
      return is_white_space(code) ? "␣" : "";
  }
}

std::string show_spaces(std::string_view text) {
  std::string shown;
  for (size_t offset = 0; offset < text.size();) {
    const Character first = character_at(text, offset);
    int count = 0;
    while (offset < text.size() && character_at(text, offset).code == first.code) {
      offset += first.bytes;
      ++count;
    }
    shown += space_symbol(first.code);
    if (count > 1) shown += fmt::format("×{}", count);
  }
  return shown;
}

bool is_all_space(std::string_view text) {
  for (const char32_t code : decode_utf8(text)) {
    if (!is_white_space(code)) return false;
  }
  return !text.empty();
}

std::string show_text(std::string_view text) {
  std::string shown;
  for (size_t offset = 0; offset < text.size();) {
    const Character character = character_at(text, offset);
    if (character.code == ' ') {
      shown += "·";
    } else if (!space_symbol(character.code).empty()) {
      shown += space_symbol(character.code);
    } else {
      shown += to_one_line(text.substr(offset, character.bytes));
    }
    offset += character.bytes;
  }
  return shown;
}

}  // namespace

bool is_partial_utf8(std::string_view bytes) {
  return !is_valid_utf8(bytes);
}

std::string display_of(std::string_view bytes, TokenKind kind) {
  if (bytes.empty()) return "∅";
  if (is_partial_utf8(bytes)) {
    std::string shown = "⟨";
    for (size_t i = 0; i < bytes.size(); ++i) {
      shown += fmt::format("{}{:02X}", i > 0 ? " " : "", static_cast<unsigned char>(bytes[i]));
    }
    return shown + "⟩";
  }
  if (is_all_space(bytes)) return show_spaces(bytes);
  return (kind == TokenKind::kContinuation ? "‿" : "") + show_text(bytes);
}

void complete_glyphs(std::vector<ShownToken>& tokens) {
  for (size_t first = 0; first < tokens.size(); ++first) {
    if (tokens[first].info.kind != TokenKind::kBytes) continue;
    std::string together;
    for (size_t last = first; last < tokens.size(); ++last) {
      const ShownToken& token = tokens[last];
      if (token.info.kind != TokenKind::kBytes || token.sequence != tokens[first].sequence) break;
      together += token.info.bytes;
      if (!is_valid_utf8(together)) continue;
      for (size_t i = first; i <= last; ++i) {
        tokens[i].glyph = show_text(together);
        tokens[i].part = static_cast<int>(i - first);
        tokens[i].parts = static_cast<int>(last - first + 1);
      }
      first = last;
      break;
    }
  }
}

}  // namespace fovea
