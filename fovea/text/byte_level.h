// GPT-2's way to write any byte as a visible character, so that a vocabulary of characters covers
// all of UTF-8.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "fovea/text/aligned_text.h"

namespace fovea {

inline constexpr std::string_view kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

// The character that stands for a byte.
const std::array<char32_t, 256>& byte_characters();
// Puts text.text()[begin, end) at the end of `mapped`, each byte as its character.
void add_byte_characters(const AlignedText& text, size_t begin, size_t end, AlignedText& mapped);
// The bytes that a token stands for, or nothing if one of its characters stands for no byte.
std::optional<std::string> bytes_of_characters(std::string_view token);

}  // namespace fovea
