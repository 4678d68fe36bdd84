#include "fovea/base/utf8.h"

#include <gtest/gtest.h>

namespace fovea {
namespace {

TEST(FindInvalidUtf8, AcceptsEveryValidLength) {
  EXPECT_EQ(find_invalid_utf8(""), std::string_view::npos);
  EXPECT_EQ(find_invalid_utf8(std::string_view("a\0b", 3)), std::string_view::npos);
  EXPECT_EQ(find_invalid_utf8("aé漢🙂\u07ff\uffff\U0010ffff"), std::string_view::npos);
}

TEST(FindInvalidUtf8, TellsWhereTheFirstBadSequenceBegins) {
  EXPECT_EQ(find_invalid_utf8("ab\xff"), 2U);
  EXPECT_EQ(find_invalid_utf8("\x80"), 0U);              // continuation without a start
  EXPECT_EQ(find_invalid_utf8("é\xc3"), 2U);             // cut off
  EXPECT_EQ(find_invalid_utf8("\xe6\xbc"), 0U);          // cut off
  EXPECT_EQ(find_invalid_utf8("a\xc0\xaf"), 1U);         // overlong
  EXPECT_EQ(find_invalid_utf8("\xed\xa0\x80"), 0U);      // a surrogate
  EXPECT_EQ(find_invalid_utf8("\xf4\x90\x80\x80"), 0U);  // above U+10FFFF
}

TEST(ToValidUtf8, ReplacesOnlyWhatIsInvalid) {
  EXPECT_EQ(to_valid_utf8("é漢"), "é漢");
  EXPECT_EQ(to_valid_utf8("a\xff漢\xc3"), "a\uFFFD漢\uFFFD");
}

TEST(ToCharacters, ReplacesWhatIsNoCharacter) {
  EXPECT_EQ(to_characters("a\xef\xbf\xbe\xef\xb7\x90\xf0\x9f\xbf\xbe\xff!"),
            "a\uFFFD\uFFFD\uFFFD\uFFFD!");
  EXPECT_EQ(to_characters("\uFDCF\uFFFD\u4e2d\U0001F600"), "\uFDCF\uFFFD\u4e2d\U0001F600");
}

TEST(ToOneLine, ShowsControlCharactersAsEscapes) {
  EXPECT_EQ(to_one_line("a\nb\tc\r\x1b[0m\x7f"), "a\\nb\\tc\\x0d\\x1b[0m\\x7f");
  EXPECT_EQ(to_one_line("\u0085\u009b\u2028\u2029"), "\\x85\\x9b\\u2028\\u2029");
  EXPECT_EQ(to_one_line(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(to_one_line("é 漢 🙂 \xff"), "é 漢 🙂 \uFFFD");
}

TEST(DisplayWidth, CountsTerminalColumns) {
  EXPECT_EQ(display_width(""), 0);
  EXPECT_EQ(display_width("abc"), 3);
  EXPECT_EQ(display_width("é"), 1);
  EXPECT_EQ(display_width("漢字"), 4);
  EXPECT_EQ(display_width("🙂"), 2);
  EXPECT_EQ(display_width("e\u0301"), 1);  // combining acute accent
  EXPECT_EQ(display_width("한글"), 4);
  EXPECT_EQ(display_width("a\xff"), 2);
}

TEST(DisplayWidth, AnEmojiSequenceIsOneWideSign) {
  EXPECT_EQ(display_width("👩\u200d👩\u200d👧\u200d👦"), 2);  // joined
  EXPECT_EQ(display_width("👍🏽"), 2);                        // with a skin colour
  EXPECT_EQ(display_width("❤\ufe0f"), 2);                     // shown as emoji by its selector
  EXPECT_EQ(display_width("❤"), 1);
  EXPECT_EQ(display_width("🇩🇪🇫🇷"), 4);           // two flags of two letters each
  EXPECT_EQ(display_width("1\ufe0f\u20e3"), 2);  // a keycap
  EXPECT_EQ(display_width("a👩\u200d🚀b"), 4);
}

TEST(DisplayWidth, CountsOtherScriptsByTheirLetters) {
  EXPECT_EQ(display_width("مرحبا"), 5);
  EXPECT_EQ(display_width("שָׁלוֹם"), 4);  // points take no column
  EXPECT_EQ(display_width("ｶﾅ"), 2);    // half-width
  EXPECT_EQ(display_width("Ａ"), 2);    // full-width
}

TEST(Graphemes, KeepWhatBelongsTogether) {
  EXPECT_EQ(graphemes("e\u0301👩\u200d🚀🇩🇪漢"),
            (std::vector<std::string_view>{"e\u0301", "👩\u200d🚀", "🇩🇪", "漢"}));
  EXPECT_TRUE(graphemes("").empty());
  EXPECT_EQ(graphemes("a\xff").size(), 2U);
}

TEST(HasRightToLeft, SeesHebrewAndArabicOnly) {
  EXPECT_TRUE(has_right_to_left("abc مرحبا"));
  EXPECT_TRUE(has_right_to_left("שלום"));
  EXPECT_FALSE(has_right_to_left("abc 漢字 12 \xff"));
}

TEST(Shorten, LeavesWhatFits) {
  EXPECT_EQ(shorten("abc", 3), "abc");
  EXPECT_EQ(shorten("漢字", 4), "漢字");
  EXPECT_EQ(shorten("", 0), "");
}

TEST(Shorten, CutsAtCharactersAndNeverPassesTheColumns) {
  EXPECT_EQ(shorten("abcd", 3), "ab…");
  EXPECT_EQ(shorten("漢字漢字", 4), "漢…");  // a wide character does not fit into one column
  EXPECT_EQ(shorten("e\u0301e\u0301e\u0301", 2), "e\u0301…");
  EXPECT_EQ(shorten("abc", 1), "…");
  EXPECT_EQ(shorten("👩\u200d🚀👩\u200d🚀", 3), "👩\u200d🚀…");
  const std::string_view text = "a漢e\u0301🙂b\xff字c";
  for (int columns = 0; columns < 12; ++columns) {
    EXPECT_LE(display_width(shorten(text, columns)), columns) << columns;
  }
}

TEST(QuoteName, IsNoMoreThanALine) {
  EXPECT_EQ(quote_name("weight"), "'weight'");
  EXPECT_LT(quote_name(std::string(5000, 'a')).size(), 100U);
}

}  // namespace
}  // namespace fovea
