// Numbers in what people and files give as text, and the blanks around them.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace fovea {

// All of `text` as a number; nothing where it is none, or none that fits.
template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || rest != end) return std::nullopt;
  return number;
}

inline constexpr std::string_view kBlanks = " \t\r\n\v\f";

inline bool is_blank(std::string_view text) {
  return text.find_first_not_of(kBlanks) == std::string_view::npos;
}

// Without blanks and line breaks at its ends.
inline std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

}  // namespace fovea
