#include "fovea/text/json_cursor.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/base/parse.h"
#include "fovea/text/unicode.h"

namespace fovea {
namespace {

bool ends_scalar(char c) {
  return c == ',' || c == '}' || c == ']' || c == ' ' || c == '\n' || c == '\r' || c == '\t' ||
         c == ':';
}

}  // namespace

void JsonCursor::fail_here(std::string_view wanted) const {
  fail(ErrorKind::kBadFile, "{}: not valid JSON near byte {}: {} is wanted there", source_, at_,
       wanted);
}

void JsonCursor::fail_expected(char wanted) const {
  fail_here(std::string(1, '\'') + wanted + "'");
}

void JsonCursor::pass_plain() {
  while (at_ < text_.size()) {
    const auto byte = static_cast<unsigned char>(text_[at_]);
    if (byte < 0x80) {
      if (byte < 0x20 || byte == '"' || byte == '\\') return;
      ++at_;
      continue;
    }
    const bool two = byte >= 0xC2 && byte < 0xE0;  // as most of byte-level vocabularies
    if (two && at_ + 1 < text_.size() && is_continuation(text_[at_ + 1])) {
      at_ += 2;
      continue;
    }
    bool valid = true;
    const size_t bytes = checked_character_at(text_, at_, valid).bytes;
    if (!valid) fail(ErrorKind::kBadFile, "{}: byte {} is not valid UTF-8", source_, at_);
    at_ += bytes;
  }
  fail_here("the end of a string");
}

std::string_view JsonCursor::string() {
  expect('"');
  const size_t begin = at_;
  pass_plain();
  if (text_[at_] == '"') return text_.substr(begin, at_++ - begin);
  if (text_[at_] == '\\') return unescape(begin);
  fail_here("an escaped control character");
}

uint32_t JsonCursor::hex4(size_t at) const {
  uint32_t value = 0;
  if (at + 4 > text_.size()) fail_here("four hexadecimal digits");
  const auto [end, error] = std::from_chars(text_.data() + at, text_.data() + at + 4, value, 16);
  if (error != std::errc() || end != text_.data() + at + 4) fail_here("four hexadecimal digits");
  return value;
}

std::string_view JsonCursor::unescape(size_t begin) {
  std::string result;
  for (;;) {
    result.append(text_.substr(begin, at_ - begin));
    if (text_[at_] == '"') {
      ++at_;
      return kept_.emplace_back(std::move(result));
    }
    if (text_[at_] != '\\') fail_here("an escaped control character");
    append_utf8(result, escape());
    begin = at_;
    pass_plain();
  }
}

char32_t JsonCursor::escape() {
  static constexpr std::string_view kNames = "\"\\/bfnrt";
  static constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
  const char name = ++at_ < text_.size() ? text_[at_] : '\0';
  ++at_;
  if (name != '\0' && kNames.find(name) != std::string_view::npos) {
    return static_cast<unsigned char>(kMeanings[kNames.find(name)]);
  }
  if (name != 'u') fail_here("a known escape");
  char32_t code = hex4(at_);
  at_ += 4;
  if (code >= 0xD800 && code < 0xDC00 && text_.substr(at_).starts_with("\\u")) {
    const char32_t low = hex4(at_ + 2);
    if (low < 0xDC00 || low >= 0xE000) fail_here("the second half of a surrogate pair");
    code = 0x10000 + ((code - 0xD800) << 10U) + (low - 0xDC00);
    at_ += 6;
  }
  if (code >= 0xD800 && code < 0xE000) fail_here("both halves of a surrogate pair");
  return code;
}

std::string_view JsonCursor::scalar() {
  peek();
  const size_t begin = at_;
  while (at_ < text_.size() && !ends_scalar(text_[at_])) ++at_;
  return text_.substr(begin, at_ - begin);
}

int64_t JsonCursor::integer() {
  peek();
  int64_t quick = 0;
  size_t end_of_digits = at_;
  const size_t most = std::min(text_.size(), at_ + 9);
  for (; end_of_digits < most; ++end_of_digits) {
    const char c = text_[end_of_digits];
    if (c < '0' || c > '9') break;
    quick = quick * 10 + (c - '0');
  }
  if (end_of_digits > at_ && end_of_digits < most && ends_scalar(text_[end_of_digits])) {
    at_ = end_of_digits;
    return quick;
  }
  const std::string_view text = scalar();
  const auto value = parse_number<int64_t>(text);
  if (!value) fail_here("a whole number");
  return *value;
}

double JsonCursor::number() {
  const auto value = parse_number<double>(scalar());
  if (!value || !std::isfinite(*value)) fail_here("a number");
  return *value;
}

void JsonCursor::skip() {
  // Only brackets and strings matter here; Json::parse reads what is skipped.
  int depth = 0;
  do {
    const char c = peek();
    if (at_ >= text_.size()) fail_here("the end of a value");
    if (c == '"') {
      ++at_;
      while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
      if (at_ >= text_.size()) fail_here("the end of a string");
      ++at_;
    } else if (c == '{' || c == '[') {
      ++depth;
      ++at_;
    } else if (c == '}' || c == ']') {
      if (depth == 0) fail_here("a value");
      --depth;
      ++at_;
    } else if (c == ',' || c == ':') {
      if (depth == 0) fail_here("a value");
      ++at_;
    } else if (scalar().empty()) {
      fail_here("a value");
    }
  } while (depth > 0);
}

}  // namespace fovea
