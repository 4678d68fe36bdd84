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
  // `text` must be valid UTF-8. Strings with escapes are kept in `kept`.
  JsonCursor(std::string_view text, std::string_view source, std::deque<std::string>& kept)
      : text_(text), source_(source), kept_(kept) {}

  size_t position() const { return at_; }
  char peek();             // the next character after white space, 0 at the end
  bool take(char wanted);  // passes it if it is next
  void expect(char wanted);
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
  std::string_view scalar();
  std::string_view unescape(size_t begin);
  uint32_t hex4(size_t at) const;
  std::string_view text_;
  std::string_view source_;
  std::deque<std::string>& kept_;
  size_t at_ = 0;
};

}  // namespace fovea
