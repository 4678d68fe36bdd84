#include "fovea/text/jinja/tokens.h"

#include <algorithm>
#include <array>

#include "fovea/base/error.h"
#include "fovea/text/unicode.h"

namespace fovea::jinja {
namespace {

bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool begins_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

// Line ends are all "\n", and the last one of the template does not count.
std::string plain_lines(std::string_view source) {
  std::string text;
  text.reserve(source.size());
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\r') {
      text += '\n';
      if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
    } else {
      text += source[i];
    }
  }
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

// Longer ones before those that they begin with.
constexpr std::array<std::string_view, 26> kSigns{"**", "//", "==", "!=", "<=", ">=", "+", "-", "*",
                                                  "/",  "%",  "~",  "(",  ")",  "[",  "]", "{", "}",
                                                  ",",  ".",  ":",  "|",  "=",  "<",  ">", ";"};

class Lexer {
 public:
  Lexer(std::string source, std::string_view where) : text_(std::move(source)), where_(where) {}

  std::vector<Token> all() {
    while (at_ < text_.size()) {
      const size_t tag = next_tag(at_);
      if (tag == text_.npos) {
        add_text(text_.substr(at_));
        break;
      }
      take_tag(tag);
    }
    tokens_.push_back({TokenKind::kEnd, "", line_});
    return std::move(tokens_);
  }

 private:
  [[noreturn]] void bad(std::string_view what) const {
    fail(ErrorKind::kBadFile, "{}: line {}: {}", where_, line_, what);
  }

  size_t next_tag(size_t from) const {
    for (size_t i = text_.find('{', from); i != text_.npos; i = text_.find('{', i + 1)) {
      const char next = i + 1 < text_.size() ? text_[i + 1] : '\0';
      if (next == '{' || next == '%' || next == '#') return i;
    }
    return text_.npos;
  }

  void add_text(const std::string& text) {
    if (!text.empty()) tokens_.push_back({TokenKind::kText, text, line_});
    line_ += static_cast<int>(std::ranges::count(text, '\n'));
  }

  // The text before a tag, without what the tag's sign or its place on the line takes away.
  void add_text_before(size_t tag, char sign, bool print) {
    const std::string text = text_.substr(at_, tag - at_);
    size_t keep = text.size();
    if (sign == '-') {
      while (keep > 0 && is_space(text[keep - 1])) --keep;
    } else if (sign != '+' && !print) {
      const size_t newline = text.rfind('\n');
      const size_t line = newline == text.npos ? 0 : newline + 1;
      const bool blank =
          std::all_of(text.begin() + static_cast<std::ptrdiff_t>(line), text.end(), is_space);
      if (blank && (line > 0 || begins_line_)) keep = line;
    }
    const int lines = line_;
    add_text(text.substr(0, keep));
    line_ = lines + static_cast<int>(std::ranges::count(text, '\n'));
  }

  void take_tag(size_t tag) {
    const char kind = text_[tag + 1];
    const char sign = tag + 2 < text_.size() ? text_[tag + 2] : '\0';
    const bool signed_tag = sign == '-' || sign == '+';
    add_text_before(tag, signed_tag ? sign : '\0', kind == '{');
    at_ = tag + 2 + (signed_tag ? 1 : 0);
    if (kind == '#') return skip_comment();
    tokens_.push_back({kind == '{' ? TokenKind::kPrintBegin : TokenKind::kBlockBegin, "", line_});
    take_words(kind == '{' ? "}}" : "%}", kind == '{');
    if (kind == '%' && is_raw()) take_raw();
  }

  // After the end of a tag at at_: "-" takes all space away, and a block's end its line end.
  void after_tag(bool trims, bool print, bool keeps) {
    const size_t begin = at_;
    if (trims) {
      while (at_ < text_.size() && is_space(text_[at_])) ++at_;
    } else if (!print && !keeps && at_ < text_.size() && text_[at_] == '\n') {
      ++at_;
    }
    line_ += static_cast<int>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(begin),
                                         text_.begin() + static_cast<std::ptrdiff_t>(at_), '\n'));
    begins_line_ = at_ > begin && text_[at_ - 1] == '\n';
  }

  void skip_comment() {
    const size_t end = text_.find("#}", at_);
    if (end == text_.npos) bad("a comment has no end");
    line_ += static_cast<int>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                         text_.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
    const char sign = end > at_ ? text_[end - 1] : '\0';
    at_ = end + 2;
    after_tag(sign == '-', false, sign == '+');
  }

  bool is_raw() const {
    const size_t count = tokens_.size();
    return count >= 3 && tokens_[count - 1].kind == TokenKind::kBlockEnd &&
           tokens_[count - 2].name("raw") && tokens_[count - 3].kind == TokenKind::kBlockBegin;
  }

  void take_raw() {
    tokens_.resize(tokens_.size() - 3);
    for (size_t tag = text_.find("{%", at_); tag != text_.npos; tag = text_.find("{%", tag + 2)) {
      size_t i = tag + 2;
      const char sign = i < text_.size() ? text_[i] : '\0';
      if (sign == '-' || sign == '+') ++i;
      while (i < text_.size() && is_space(text_[i])) ++i;
      if (text_.compare(i, 6, "endraw") != 0) continue;
      add_text_before(tag, sign == '-' || sign == '+' ? sign : '\0', false);
      at_ = i + 6;
      const size_t before = tokens_.size();
      take_words("%}", false);
      if (tokens_.size() != before + 1) bad("endraw takes nothing");
      tokens_.pop_back();
      return;
    }
    bad("a raw block has no end");
  }

  // Words and signs up to the tag's end, which within brackets is none.
  void take_words(std::string_view end, bool print) {
    int open = 0;
    for (;;) {
      while (at_ < text_.size() && is_space(text_[at_])) line_ += text_[at_++] == '\n';
      if (at_ >= text_.size()) bad("a tag has no end");
      const std::string_view rest = std::string_view(text_).substr(at_);
      const bool trims = rest.front() == '-', keeps = rest.front() == '+' && !print;
      if (open == 0 && rest.substr(trims || keeps ? 1 : 0).starts_with(end)) {
        at_ += end.size() + (trims || keeps ? 1 : 0);
        tokens_.push_back({print ? TokenKind::kPrintEnd : TokenKind::kBlockEnd, "", line_});
        return after_tag(trims, print, keeps);
      }
      take_word(rest, open);
    }
  }

  void take_word(std::string_view rest, int& open) {
    const char first = rest.front();
    if (first == '"' || first == '\'') return take_string(first);
    if (is_digit(first)) return take_number(rest);
    if (begins_name(first)) {
      size_t size = 0;
      while (size < rest.size() && (begins_name(rest[size]) || is_digit(rest[size]))) ++size;
      tokens_.push_back({TokenKind::kName, std::string(rest.substr(0, size)), line_});
      at_ += size;
      return;
    }
    const auto* const sign =
        std::ranges::find_if(kSigns, [&](std::string_view each) { return rest.starts_with(each); });
    if (sign == kSigns.end()) {
      fail(ErrorKind::kBadFile, "{}: line {}: '{}' has no meaning within a tag", where_, line_,
           std::string(1, first));
    }
    if (std::string_view("([{").find(first) != std::string_view::npos) ++open;
    if (std::string_view(")]}").find(first) != std::string_view::npos && --open < 0) {
      bad("a bracket is closed that was not opened");
    }
    tokens_.push_back({TokenKind::kSign, std::string(*sign), line_});
    at_ += sign->size();
  }

  void take_number(std::string_view rest) {
    size_t size = 0;
    std::string digits;
    const auto take_digits = [&] {
      while (size < rest.size() && (is_digit(rest[size]) || rest[size] == '_')) {
        if (rest[size] != '_') digits += rest[size];
        ++size;
      }
    };
    take_digits();
    bool real = false;
    if (size + 1 < rest.size() && rest[size] == '.' && is_digit(rest[size + 1])) {
      real = true;
      digits += rest[size++];
      take_digits();
    }
    if (size < rest.size() && (rest[size] == 'e' || rest[size] == 'E')) {
      size_t sign = size + 1;
      if (sign < rest.size() && (rest[sign] == '+' || rest[sign] == '-')) ++sign;
      if (sign < rest.size() && is_digit(rest[sign])) {
        real = true;
        digits.append(rest.substr(size, sign - size));
        size = sign;
        take_digits();
      }
    }
    tokens_.push_back({real ? TokenKind::kReal : TokenKind::kInteger, digits, line_});
    at_ += size;
  }

  void take_string(char quote) {
    const int line = line_;
    std::string value;
    for (++at_; at_ < text_.size() && text_[at_] != quote;) {
      if (text_[at_] == '\n') ++line_;
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
        ++at_;
        take_escape(value);
      } else {
        value += text_[at_++];
      }
    }
    if (at_ >= text_.size()) bad("a text in quotes has no end");
    ++at_;
    tokens_.push_back({TokenKind::kString, std::move(value), line});
  }

  // As Python reads what follows a backslash.
  void take_escape(std::string& value) {
    const char c = text_[at_];
    constexpr std::string_view kNames = "abfnrtv\\'\"", kMeant = "\a\b\f\n\r\t\v\\'\"";
    if (const size_t known = kNames.find(c); known != kNames.npos) {
      value += kMeant[known];
      ++at_;
    } else if (c == '\n') {
      ++line_;
      ++at_;
    } else if (c >= '0' && c <= '7') {
      take_code(value, 8, 3, false);
    } else if (c == 'x' || c == 'u' || c == 'U') {
      ++at_;
      take_code(value, 16, c == 'x' ? 2 : c == 'u' ? 4 : 8, true);
    } else {
      value += '\\';
    }
  }

  void take_code(std::string& value, int base, int digits, bool all) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    char32_t code = 0;
    int taken = 0;
    for (; taken < digits && at_ < text_.size(); ++taken, ++at_) {
      const char c = text_[at_];
      const size_t digit = kDigits.find(c >= 'A' && c <= 'F' ? static_cast<char>(c + 32) : c);
      if (digit == kDigits.npos || digit >= static_cast<size_t>(base)) break;
      code = code * static_cast<char32_t>(base) + static_cast<char32_t>(digit);
    }
    const bool character = code < 0x110000 && (code < 0xD800 || code > 0xDFFF);
    if ((all && taken < digits) || !character) bad("a backslash is followed by no character");
    append_utf8(value, code);
  }

  std::string text_;
  std::string_view where_;
  size_t at_ = 0;
  int line_ = 1;
  bool begins_line_ = true;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokens_of(std::string_view source, std::string_view where) {
  if (!is_valid_utf8(source)) fail(ErrorKind::kBadFile, "{}: not valid UTF-8", where);
  return Lexer(plain_lines(source), where).all();
}

}  // namespace fovea::jinja
