#include "fovea/text/word_boundaries.h"

#include "fovea/text/unicode.h"

namespace fovea {
namespace {

constexpr char32_t kNone = 0;

// Invalid UTF-8 counts as a mark.
Character at_byte(std::string_view text, size_t at) {
  bool valid = false;
  const Character character = checked_character_at(text, at, valid);
  return valid ? character : Character{U'\uFFFD', 1};
}

char32_t before(std::string_view text, size_t at) {
  if (at == 0) return kNone;
  size_t begin = at - 1;
  while (begin > 0 && is_continuation(text[begin])) --begin;
  return at_byte(text, begin).code;
}

char32_t at_or_none(std::string_view text, size_t at) {
  return at < text.size() ? at_byte(text, at).code : kNone;
}

bool writes_no_spaces(char32_t code) {
  return is_bert_chinese(code) || (code >= 0x3041 && code <= 0x30FF) ||  // Hiragana, Katakana
         (code >= 0x0E01 && code <= 0x0EFF) ||                           // Thai, Lao
         (code >= 0x1000 && code <= 0x109F) ||                           // Myanmar
         (code >= 0x1780 && code <= 0x17FF);                             // Khmer
}

bool is_apostrophe(char32_t code) {
  return code == '\'' || code == 0x2019;
}

// The hyphen of "well-known", and points, commas and colons within numbers.
bool joins(char32_t mark, char32_t left, char32_t right) {
  if (is_apostrophe(mark) || mark == '-' || mark == 0x2010 || mark == 0x2011) {
    return is_word_character(left) && is_word_character(right);
  }
  return (mark == '.' || mark == ',' || mark == ':') && is_numeric(left) && is_numeric(right);
}

// Letters that stand together on one side of `at`, up to four of them.
int letters_before(std::string_view text, size_t at) {
  int count = 0;
  while (count < 4 && is_word_character(before(text, at))) {
    do --at;
    while (at > 0 && is_continuation(text[at]));
    ++count;
  }
  return count;
}

int letters_after(std::string_view text, size_t at) {
  int count = 0;
  while (count < 4 && at < text.size() && is_word_character(at_byte(text, at).code)) {
    at += at_byte(text, at).bytes;
    ++count;
  }
  return count;
}

// Between "l'" and "accord", not within "don't", "I'll" or "aujourd'hui".
bool follows_elision(std::string_view text, size_t at) {
  if (!is_apostrophe(before(text, at))) return false;
  size_t mark = at - 1;
  while (mark > 0 && is_continuation(text[mark])) --mark;
  const int left = letters_before(text, mark);
  return left >= 1 && left <= 2 && letters_after(text, at) >= 3;
}

bool is_mark(char32_t code) {
  return !is_word_character(code) && !is_combining_mark(code) && !is_white_space(code);
}

}  // namespace

bool begins_word(std::string_view text, size_t at) {
  if (at == 0) return true;
  if (at >= text.size() || is_continuation(text[at])) return false;
  const Character here = at_byte(text, at);
  const char32_t last = before(text, at);
  if (is_white_space(last) || is_white_space(here.code)) return true;
  if (is_combining_mark(here.code)) return false;
  if (follows_elision(text, at)) return true;
  if (is_mark(here.code)) {
    return !joins(here.code, last, at_or_none(text, at + here.bytes));
  }
  if (is_mark(last)) {
    size_t mark = at - 1;
    while (mark > 0 && is_continuation(text[mark])) --mark;
    return !joins(last, before(text, mark), here.code);
  }
  return writes_no_spaces(here.code) || writes_no_spaces(last);
}

}  // namespace fovea
