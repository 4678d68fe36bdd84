#include "fovea/text/byte_level.h"

#include "fovea/text/unicode.h"

namespace fovea {

const std::array<char32_t, 256>& byte_characters() {
  static const std::array<char32_t, 256> table = [] {
    std::array<char32_t, 256> characters{};
    char32_t next = 256;
    for (char32_t byte = 0; byte < 256; ++byte) {
      const bool visible =
          (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
      characters[byte] = visible ? byte : next++;
    }
    return characters;
  }();
  return table;
}

void add_byte_characters(const AlignedText& text, size_t begin, size_t end, AlignedText& mapped) {
  static const std::array<std::string, 256> names = [] {
    std::array<std::string, 256> table;
    for (size_t byte = 0; byte < 256; ++byte) append_utf8(table[byte], byte_characters()[byte]);
    return table;
  }();
  const std::string& old = text.text();
  for (size_t offset = begin; offset < end;) {
    const size_t bytes = character_at(old, offset).bytes;
    const ByteSpan from = text.source(offset, offset + 1);  // the library's rule: its first byte
    for (size_t i = 0; i < bytes; ++i) {
      mapped.add(names[static_cast<unsigned char>(old[offset + i])], from);
    }
    offset += bytes;
  }
}

std::optional<std::string> bytes_of_characters(std::string_view token) {
  static const std::array<int16_t, 512> bytes = [] {
    std::array<int16_t, 512> table{};
    table.fill(-1);
    for (size_t byte = 0; byte < 256; ++byte) {
      table[byte_characters()[byte]] = static_cast<int16_t>(byte);
    }
    return table;
  }();
  std::string result;
  for (size_t offset = 0; offset < token.size();) {
    const Character character = character_at(token, offset);
    offset += character.bytes;
    if (character.code >= bytes.size() || bytes[character.code] < 0) return std::nullopt;
    result += static_cast<char>(bytes[character.code]);
  }
  return result;
}

}  // namespace fovea
