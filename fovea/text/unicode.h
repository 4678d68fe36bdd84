// Characters as the `tokenizers` library sees them. Its crates carry several versions of Unicode,
// so the classes are tables read off the library (unicode_tables.cc), not those of the system.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fovea {

struct Character {
  char32_t code = 0;
  uint32_t bytes = 1;
};

// The character at `offset` of valid UTF-8.
inline Character character_at(std::string_view text, size_t offset) {
  const auto byte = [&](size_t i) {
    return static_cast<char32_t>(static_cast<unsigned char>(text[offset + i]));
  };
  const char32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  if (lead < 0xE0) return {(lead & 0x1FU) << 6U | (byte(1) & 0x3FU), 2};
  if (lead < 0xF0) {
    return {(lead & 0x0FU) << 12U | (byte(1) & 0x3FU) << 6U | (byte(2) & 0x3FU), 3};
  }
  return {(lead & 0x07U) << 18U | (byte(1) & 0x3FU) << 12U | (byte(2) & 0x3FU) << 6U |
              (byte(3) & 0x3FU),
          4};
}
void append_long_utf8(std::string& text, char32_t code);  // not ASCII
inline void append_utf8(std::string& text, char32_t code) {
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else {
    append_long_utf8(text, code);
  }
}
inline size_t utf8_size(char32_t code) {
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  return code < 0x10000 ? 3 : 4;
}
inline bool is_continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}
bool is_ascii(std::string_view text);
std::u32string decode_utf8(std::string_view text);
std::string encode_utf8(std::u32string_view text);
// Whether the bytes at `offset` begin a valid character, and how many there are (1 if not valid).
Character checked_character_at(std::string_view text, size_t offset, bool& valid);
bool is_valid_utf8(std::string_view text);

struct CodeRange {
  char32_t first;
  char32_t last;
};

// A set of characters; membership is two look-ups.
class CharacterSet {
 public:
  explicit CharacterSet(std::span<const CodeRange> ranges);
  bool contains(char32_t code) const {
    if (code >= 0x110000) return false;
    const uint32_t low = code & 0xFFU;
    return ((blocks_[index_[code >> 8U] * 4U + (low >> 6U)] >> (low & 63U)) & 1U) != 0;
  }

 private:
  std::vector<uint16_t> index_;
  std::vector<uint64_t> blocks_;
};

bool is_white_space(char32_t code);       // White_Space
bool is_word_character(char32_t code);    // \w
bool is_numeric(char32_t code);           // Nd, Nl, No
bool is_bert_punctuation(char32_t code);  // ASCII punctuation, P*
bool is_bert_control(char32_t code);      // dropped by BertNormalizer's clean_text
bool is_bert_chinese(char32_t code);      // gets spaces around it
bool is_nonspacing_mark(char32_t code);   // Mn
bool is_combining_mark(char32_t code);    // Mn, Mc, Me
// Lower case; U+0130 alone becomes two characters, of which this is the first.
char32_t to_lower_beyond_ascii(char32_t code);
inline char32_t to_lower(char32_t code) {
  if (code < 0x80) return code >= 'A' && code <= 'Z' ? code + 32 : code;
  return to_lower_beyond_ascii(code);
}

}  // namespace fovea
