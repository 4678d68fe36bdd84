// Where words begin in running text, for people: maps of words and alignments.
#pragma once

#include <cstddef>
#include <string_view>

namespace fovea {

// Whether a word begins at byte `at` of the text, which must be the first byte of a character.
// White space and punctuation part words, but not the apostrophe and the hyphen within "don't" and
// "well-known" nor the point within "3.14"; "l'" and "qu'" are words of their own. Scripts that
// write no spaces (Chinese, Japanese, Thai, ...) may begin one at any character.
bool begins_word(std::string_view text, size_t at);

}  // namespace fovea
