#include "fovea/text/unicode.h"

#include <utf8proc.h>

#include <cstring>

#include "fovea/text/unicode_tables.h"

namespace fovea {
namespace {

bool eight_are_ascii(const char* bytes) {
  uint64_t word = 0;
  std::memcpy(&word, bytes, 8);
  return (word & 0x8080808080808080U) == 0;
}

}  // namespace

void append_long_utf8(std::string& text, char32_t code) {
  const auto add = [&](char32_t byte) { text += static_cast<char>(byte); };
  if (code < 0x800) {
    add(0xC0U | code >> 6U);
    add(0x80U | (code & 0x3FU));
  } else if (code < 0x10000) {
    add(0xE0U | code >> 12U);
    add(0x80U | ((code >> 6U) & 0x3FU));
    add(0x80U | (code & 0x3FU));
  } else {
    add(0xF0U | code >> 18U);
    add(0x80U | ((code >> 12U) & 0x3FU));
    add(0x80U | ((code >> 6U) & 0x3FU));
    add(0x80U | (code & 0x3FU));
  }
}

bool is_ascii(std::string_view text) {
  size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) {
    if (!eight_are_ascii(text.data() + i)) return false;
  }
  for (; i < text.size(); ++i) {
    if (static_cast<unsigned char>(text[i]) >= 0x80) return false;
  }
  return true;
}

std::u32string decode_utf8(std::string_view text) {
  std::u32string codes;
  codes.reserve(text.size());
  for (size_t offset = 0; offset < text.size();) {
    const Character character = character_at(text, offset);
    codes += character.code;
    offset += character.bytes;
  }
  return codes;
}

std::string encode_utf8(std::u32string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  for (const char32_t code : text) append_utf8(bytes, code);
  return bytes;
}

Character checked_character_at(std::string_view text, size_t offset, bool& valid) {
  const auto lead = static_cast<unsigned char>(text[offset]);
  valid = true;
  if (lead < 0x80) return {lead, 1};
  const size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  valid = lead >= 0xC2 && lead < 0xF5 && offset + bytes <= text.size();
  for (size_t i = 1; valid && i < bytes; ++i) valid = is_continuation(text[offset + i]);
  if (!valid) return {0xFFFD, 1};
  const Character character = character_at(text, offset);
  valid = utf8_size(character.code) == bytes && character.code < 0x110000 &&
          (character.code < 0xD800 || character.code >= 0xE000);
  return valid ? character : Character{0xFFFD, 1};
}

bool is_valid_utf8(std::string_view text) {
  const auto continues = [&](size_t at, unsigned char least, unsigned char most) {
    const auto byte = static_cast<unsigned char>(text[at]);
    return byte >= least && byte <= most;
  };
  for (size_t at = 0; at < text.size();) {
    const auto lead = static_cast<unsigned char>(text[at]);
    if (lead < 0x80) {
      at += 1;
      while (at + 8 <= text.size() && eight_are_ascii(text.data() + at)) at += 8;
    } else if (lead < 0xE0) {
      if (lead < 0xC2 || text.size() - at < 2 || !continues(at + 1, 0x80, 0xBF)) return false;
      at += 2;
    } else if (lead < 0xF0) {
      if (text.size() - at < 3 ||
          !continues(at + 1, lead == 0xE0 ? 0xA0 : 0x80, lead == 0xED ? 0x9F : 0xBF) ||
          !continues(at + 2, 0x80, 0xBF)) {
        return false;
      }
      at += 3;
    } else {
      if (lead > 0xF4 || text.size() - at < 4 ||
          !continues(at + 1, lead == 0xF0 ? 0x90 : 0x80, lead == 0xF4 ? 0x8F : 0xBF) ||
          !continues(at + 2, 0x80, 0xBF) || !continues(at + 3, 0x80, 0xBF)) {
        return false;
      }
      at += 4;
    }
  }
  return true;
}

CharacterSet::CharacterSet(std::span<const CodeRange> ranges) : index_(0x1100, 0), blocks_(4, 0) {
  for (const CodeRange& range : ranges) {
    for (char32_t code = range.first; code <= range.last; ++code) {
      uint16_t& block = index_[code >> 8U];
      if (block == 0) {
        block = static_cast<uint16_t>(blocks_.size() / 4);
        blocks_.resize(blocks_.size() + 4, 0);
      }
      blocks_[block * 4U + ((code & 0xFFU) >> 6U)] |= uint64_t{1} << (code & 63U);
    }
  }
}

bool is_white_space(char32_t code) {
  if (code < 0x80) return code == ' ' || (code >= 9 && code <= 13);
  return code == 0x85 || code == 0xA0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200A) ||
         code == 0x2028 || code == 0x2029 || code == 0x202F || code == 0x205F || code == 0x3000;
}

bool is_word_character(char32_t code) {
  static const CharacterSet set(word_ranges());
  return set.contains(code);
}

bool is_numeric(char32_t code) {
  static const CharacterSet set(numeric_ranges());
  return set.contains(code);
}

bool is_bert_punctuation(char32_t code) {
  static const CharacterSet set(punctuation_ranges());
  return set.contains(code);
}

bool is_bert_control(char32_t code) {
  static const CharacterSet set(control_ranges());
  return set.contains(code);
}

bool is_nonspacing_mark(char32_t code) {
  static const CharacterSet set(nonspacing_mark_ranges());
  return code >= 0x300 && set.contains(code);
}

bool is_combining_mark(char32_t code) {
  static const CharacterSet set(combining_mark_ranges());
  return code >= 0x300 && set.contains(code);
}

bool is_bert_chinese(char32_t code) {
  return (code >= 0x4E00 && code <= 0x9FFF) || (code >= 0x3400 && code <= 0x4DBF) ||
         (code >= 0x20000 && code <= 0x2A6DF) || (code >= 0x2A700 && code <= 0x2B73F) ||
         (code >= 0x2B740 && code <= 0x2B81F) || (code >= 0x2B920 && code <= 0x2CEAF) ||
         (code >= 0xF900 && code <= 0xFAFF) || (code >= 0x2F800 && code <= 0x2FA1F);
}

char32_t to_lower_beyond_ascii(char32_t code) {
  // Characters of the library's newer Unicode that utf8proc does not have.
  if (code >= 0x10D50 && code <= 0x10D65) return code + 0x20;
  if (code >= 0x16EA0 && code <= 0x16EB8) return code + 0x1B;
  switch (code) {
    case 0x130:
      return 'i';
    case 0x1C89:
    case 0xA7CC:
    case 0xA7CE:
    case 0xA7D2:
    case 0xA7D4:
    case 0xA7DA:
      return code + 1;
    case 0xA7CB:
      return 0x264;
    case 0xA7DC:
      return 0x19B;
    default:
      break;
  }
  return static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(code)));
}

}  // namespace fovea
