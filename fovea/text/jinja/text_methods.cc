#include "fovea/text/jinja/text_methods.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/text/unicode.h"

namespace fovea::jinja {
namespace {

// Python counts the separators of ASCII as spaces too.
bool is_python_space(char32_t code) {
  return is_white_space(code) || (code >= 0x1C && code <= 0x1F);
}

bool is_letter(char32_t code) {
  if (code < 0x80) return (code | 0x20U) >= 'a' && (code | 0x20U) <= 'z';
  return is_word_character(code) && !is_numeric(code);
}

char32_t to_upper(char32_t code) {
  if (code >= 'a' && code <= 'z') return code - 32;
  if (code < 0x80) return code;
  // Of the blocks where upper and lower case lie at a fixed distance or side by side.
  for (const char32_t candidate : {code - 1, code - 32, code - 80, code - 48, code - 8}) {
    if (candidate != code && candidate < 0x110000 && to_lower(candidate) == code) return candidate;
  }
  if (code == 0xDF || code == 0xFF || code == 0xB5) {
    fail(ErrorKind::kUnsupported, "the upper case of '{}' is not known to fovea",
         encode_utf8(std::u32string(1, code)));
  }
  return code;
}

// What white space parts, in the order in which it is found; after `most` parts the rest is one.
std::vector<std::string> space_parted(std::u32string_view codes, int64_t most, bool from_right) {
  std::vector<std::string> words;
  const auto trim = [&] {
    while (!codes.empty() && is_python_space(from_right ? codes.back() : codes.front())) {
      from_right ? codes.remove_suffix(1) : codes.remove_prefix(1);
    }
  };
  for (trim(); !codes.empty(); trim()) {
    size_t size = most >= 0 && std::ssize(words) >= most ? codes.size() : 0;
    const auto at = [&](size_t i) { return codes[from_right ? codes.size() - 1 - i : i]; };
    while (size < codes.size() && !is_python_space(at(size))) ++size;
    words.push_back(
        encode_utf8(from_right ? codes.substr(codes.size() - size) : codes.substr(0, size)));
    from_right ? codes.remove_suffix(size) : codes.remove_prefix(size);
  }
  return words;
}

template <typename Change>
std::string changed(std::string_view text, const Change& change) {
  std::u32string codes = decode_utf8(text);
  bool begins = true;
  for (char32_t& code : codes) {
    const bool letter = is_letter(code);
    code = change(code, begins);
    begins = !letter;
  }
  return encode_utf8(codes);
}

}  // namespace

std::string stripped(std::string_view text, std::string_view drop, bool left, bool right) {
  const std::u32string codes = decode_utf8(text), set = decode_utf8(drop);
  const auto drops = [&](char32_t code) {
    return set.empty() ? is_python_space(code) : set.find(code) != set.npos;
  };
  size_t begin = 0, end = codes.size();
  while (left && begin < end && drops(codes[begin])) ++begin;
  while (right && end > begin && drops(codes[end - 1])) --end;
  return encode_utf8(std::u32string_view(codes).substr(begin, end - begin));
}

std::string in_lower_case(std::string_view text) {
  return changed(text, [](char32_t code, bool) { return to_lower(code); });
}

std::string in_upper_case(std::string_view text) {
  return changed(text, [](char32_t code, bool) { return to_upper(code); });
}

std::string capitalized(std::string_view text) {
  std::u32string codes = decode_utf8(text);
  for (size_t i = 0; i < codes.size(); ++i) {
    codes[i] = i == 0 ? to_upper(codes[i]) : to_lower(codes[i]);
  }
  return encode_utf8(codes);
}

std::string titled(std::string_view text) {
  return changed(
      text, [](char32_t code, bool begins) { return begins ? to_upper(code) : to_lower(code); });
}

std::string with_replaced(std::string_view text, std::string_view from, std::string_view to,
                          int64_t most) {
  std::string result;
  size_t at = 0;
  for (int64_t count = 0; count != most; ++count) {
    if (from.empty()) {  // before each character, and at the end
      result += to;
      if (at >= text.size()) return result;
      const uint32_t bytes = character_at(text, at).bytes;
      result += text.substr(at, bytes);
      at += bytes;
      continue;
    }
    const size_t found = text.find(from, at);
    if (found == text.npos) break;
    result.append(text.substr(at, found - at)).append(to);
    at = found + from.size();
  }
  result += text.substr(at);
  return result;
}

std::vector<std::string> split(std::string_view text, const std::string* separator, int64_t most,
                               bool from_right) {
  std::vector<std::string> parts;
  const auto full = [&] { return most >= 0 && std::ssize(parts) >= most; };
  if (separator != nullptr) {
    if (separator->empty()) fail(ErrorKind::kUnsupported, "a text is split at an empty text");
    while (!full()) {
      const size_t found = from_right ? text.rfind(*separator) : text.find(*separator);
      if (found == text.npos) break;
      const std::string_view after = text.substr(found + separator->size());
      parts.emplace_back(from_right ? after : text.substr(0, found));
      text = from_right ? text.substr(0, found) : after;
    }
    parts.emplace_back(text);
  } else {
    parts = space_parted(decode_utf8(text), most, from_right);
  }
  if (from_right) std::ranges::reverse(parts);
  return parts;
}

}  // namespace fovea::jinja
