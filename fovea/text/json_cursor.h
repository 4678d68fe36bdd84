// A strict reader over the text of a JSON file that builds no values. For large flat tables only;
// everything else goes through Json.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

namespace fovea {

class JsonCursor {
 public:
  // Strings with escapes are kept in `kept`. What skip() passes is not checked for valid UTF-8.
  JsonCursor(std::string_view text, std::string_view source, std::deque<std::string>& kept)
      : text_(text), source_(source), kept_(kept) {}

  size_t position() const { return at_; }
  size_t left() const { return text_.size() - at_; }
  // The next character after white space, 0 at the end.
  char peek() {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c != ' ' && c != '\n' && c != '\r' && c != '\t') return c;
    }
    return '\0';
  }
  // Passes it if it is next.
  bool take(char wanted) {
    if (peek() != wanted || at_ >= text_.size()) return false;
    ++at_;
    return true;
  }
  void expect(char wanted) {
    if (!take(wanted)) fail_expected(wanted);
  }
  std::string_view string();
  int64_t integer();
  double number();
  void skip();  // one value of any kind
  // Calls `member(key)` for each member of an object, which must read the value.
  template <typename Work>
  void object(Work&& member) {
    expect('{');
    if (take('}')) return;
    do {
      const std::string_view key = string();
      expect(':');
      member(key);
    } while (take(','));
    expect('}');
  }
  // Calls `item()` for each item of an array, which must read it.
  template <typename Work>
  void array(Work&& item) {
    expect('[');
    if (take(']')) return;
    do {
      item();
    } while (take(','));
    expect(']');
  }
  [[noreturn]] void fail_here(std::string_view wanted) const;

 private:
  [[noreturn]] void fail_expected(char wanted) const;
  void pass_plain();  // what stands for itself in a string
  std::string_view scalar();
  std::string_view unescape(size_t begin);
  char32_t escape();
  uint32_t hex4(size_t at) const;
  std::string_view text_;
  std::string_view source_;
  std::deque<std::string>& kept_;
  size_t at_ = 0;
};

}  // namespace fovea
