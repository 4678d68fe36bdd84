#include "fovea/text/word_boundaries.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fovea/text/unicode.h"

namespace fovea {
namespace {

// Words as the boundaries leave them, white space taken away.
std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> result;
  for (size_t at = 0; at < text.size();) {
    const Character character = character_at(text, at);
    if (result.empty() || begins_word(text, at)) result.emplace_back();
    if (!is_white_space(character.code)) result.back() += text.substr(at, character.bytes);
    at += character.bytes;
  }
  std::erase(result, "");
  return result;
}

using List = std::vector<std::string>;

TEST(WordBoundaries, SpacesAndPunctuationPartWords) {
  EXPECT_EQ(words("The cat, sat."), (List{"The", "cat", ",", "sat", "."}));
  EXPECT_EQ(words("(a) b?!"), (List{"(", "a", ")", "b", "?", "!"}));
  EXPECT_EQ(words(" two  spaces "), (List{"two", "spaces"}));
  EXPECT_EQ(words(""), List());
}

TEST(WordBoundaries, MarksWithinWordsAndNumbersDoNot) {
  EXPECT_EQ(words("don't well-known 3.14 1,000"), (List{"don't", "well-known", "3.14", "1,000"}));
  EXPECT_EQ(words("I'll aujourd'hui"), (List{"I'll", "aujourd'hui"}));
  EXPECT_EQ(words("1992. -5 'so'"), (List{"1992", ".", "-", "5", "'", "so", "'"}));
}

TEST(WordBoundaries, ElidedArticlesAreWords) {
  EXPECT_EQ(words("L'accord qu'elle d’eau"), (List{"L'", "accord", "qu'", "elle", "d’", "eau"}));
}

TEST(WordBoundaries, ScriptsWithoutSpacesMayBeginAWordAnywhere) {
  EXPECT_EQ(words("我爱你。"), (List{"我", "爱", "你", "。"}));
  EXPECT_EQ(words("iPhoneを買う"), (List{"iPhone", "を", "買", "う"}));
}

TEST(WordBoundaries, LettersKeepTheirMarks) {
  EXPECT_EQ(words("e\u0301te\u0301 على ذلك"), (List{"e\u0301te\u0301", "على", "ذلك"}));
  EXPECT_EQ(words("कि ताब"), (List{"कि", "ताब"}));
}

}  // namespace
}  // namespace fovea
