#include "fovea/text/json_cursor.h"

#include <charconv>
#include <cmath>

#include "fovea/base/error.h"
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

char JsonCursor::peek() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c != ' ' && c != '\n' && c != '\r' && c != '\t') return c;
    ++at_;
  }
  return '\0';
}

bool JsonCursor::take(char wanted) {
  if (peek() != wanted || at_ >= text_.size()) return false;
  ++at_;
  return true;
}

void JsonCursor::expect(char wanted) {
  if (!take(wanted)) fail_here(std::string(1, '\'') + wanted + "'");
}

std::string_view JsonCursor::string() {
  expect('"');
  const size_t begin = at_;
  for (; at_ < text_.size(); ++at_) {
    const char c = text_[at_];
    if (c == '"') return text_.substr(begin, at_++ - begin);
    if (c == '\\') return unescape(begin);
    if (static_cast<unsigned char>(c) < 0x20) fail_here("an escaped control character");
  }
  fail_here("the end of a string");
}

uint32_t JsonCursor::hex4(size_t at) const {
  uint32_t value = 0;
  if (at + 4 > text_.size()) fail_here("four hexadecimal digits");
  const auto [end, error] = std::from_chars(text_.data() + at, text_.data() + at + 4, value, 16);
  if (error != std::errc() || end != text_.data() + at + 4) fail_here("four hexadecimal digits");
  return value;
}

std::string_view JsonCursor::unescape(size_t begin) {
  static constexpr std::string_view kNames = "\"\\/bfnrt";
  static constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
  std::string result(text_.substr(begin, at_ - begin));
  for (; at_ < text_.size(); ++at_) {
    const char c = text_[at_];
    if (c == '"') {
      ++at_;
      return kept_.emplace_back(std::move(result));
    }
    if (static_cast<unsigned char>(c) < 0x20) fail_here("an escaped control character");
    if (c != '\\') {
      result += c;
      continue;
    }
    const char name = ++at_ < text_.size() ? text_[at_] : '\0';
    if (const size_t known = kNames.find(name); known != std::string_view::npos && name != '\0') {
      result += kMeanings[known];
      continue;
    }
    if (name != 'u') fail_here("a known escape");
    char32_t code = hex4(at_ + 1);
    at_ += 4;
    if (code >= 0xD800 && code < 0xDC00 && text_.substr(at_ + 1).starts_with("\\u")) {
      const char32_t low = hex4(at_ + 3);
      if (low < 0xDC00 || low >= 0xE000) fail_here("the second half of a surrogate pair");
      code = 0x10000 + ((code - 0xD800) << 10U) + (low - 0xDC00);
      at_ += 6;
    }
    if (code >= 0xD800 && code < 0xE000) fail_here("both halves of a surrogate pair");
    append_utf8(result, code);
  }
  fail_here("the end of a string");
}

std::string_view JsonCursor::scalar() {
  peek();
  const size_t begin = at_;
  while (at_ < text_.size() && !ends_scalar(text_[at_])) ++at_;
  return text_.substr(begin, at_ - begin);
}

int64_t JsonCursor::integer() {
  const std::string_view text = scalar();
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) {
    fail_here("a whole number");
  }
  return value;
}

double JsonCursor::number() {
  const std::string_view text = scalar();
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() ||
      !std::isfinite(value)) {
    fail_here("a number");
  }
  return value;
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
