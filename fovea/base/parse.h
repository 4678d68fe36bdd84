// Parses numbers in text from people and files, and trims blanks.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace fovea {

// The number that all of `text` spells. None if it is no number, or one that does not fit the type.
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

// The text without blanks and line breaks at its ends.
inline std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

}  // namespace fovea
