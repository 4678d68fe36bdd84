// How the large tables of tokenizer.json are read.
#include <gtest/gtest.h>

#include "fovea/base/error.h"
#include "fovea/text/json_cursor.h"
#include "fovea/text/regex.h"
#include "fovea/text/tokenizer.h"
#include "fovea/text/vocabulary.h"
#include "fovea/text/word_cache.h"

namespace fovea {
namespace {

std::vector<int32_t> ids_of(std::string_view json, std::string_view text) {
  return Tokenizer::from_json(json, "test").encode(text).ids;
}

TEST(Vocabulary, AddsManyAsItAddsOneByOne) {
  std::vector<std::string> texts{""};
  for (int i = 0; i < 1000; ++i)
    texts.push_back(std::string(size_t(i) % 40, 'x') + std::to_string(i));
  texts.push_back(texts[500]);  // gets a second id
  std::vector<VocabularyEntry> entries;
  for (const std::string& text : texts) entries.push_back({text, int64_t(entries.size())});
  entries.push_back({"late", 7});  // takes an id that another has
  Vocabulary one_by_one;
  for (const auto& [token, id] : entries) one_by_one.add(token, id);
  Vocabulary all;
  all.add_all(entries);
  EXPECT_EQ(all.size(), 1002U);
  EXPECT_EQ(all.size(), one_by_one.size());
  EXPECT_EQ(all.end_id(), one_by_one.end_id());
  EXPECT_FALSE(all.is_one_to_one());
  for (const auto& [token, id] : entries) {
    EXPECT_EQ(all.find(token), one_by_one.find(token)) << token;
    EXPECT_EQ(all.token(int32_t(id)), one_by_one.token(int32_t(id))) << id;
  }
  EXPECT_EQ(all.find("late"), 7);
  EXPECT_EQ(all.find(texts[500]), 1001);
  EXPECT_EQ(all.find("absent"), std::nullopt);
}

TEST(Vocabulary, RefusesIdsOutOfRangeAlsoAmongMany) {
  Vocabulary vocabulary;
  const std::vector<VocabularyEntry> entries{{"a", 0}, {"b", kLargestTokenId + 1}};
  EXPECT_THROW(vocabulary.add_all(entries), Error);
}

TEST(Merges, MakeTheLastIdOfATokenThatHasTwo) {
  EXPECT_EQ(ids_of(R"({"model":{"type":"BPE","vocab":{"a":0,"b":1,"ab":2,"c":3,"ab":4},
                      "merges":["a b"]}})",
                   "ab"),
            std::vector<int32_t>{4});
}

TEST(Merges, MayComeInAnyOrderOfTheIdsTheyMake) {
  EXPECT_EQ(ids_of(R"({"model":{"type":"BPE","vocab":{"abc":0,"bc":1,"ab":2,"a":3,"b":4,"c":5},
                      "merges":[["b","c"],["a","bc"],["a","b"]]}})",
                   "abcab"),
            (std::vector<int32_t>{0, 2}));
}

TEST(JsonCursor, ReadsEscapesBetweenPlainText) {
  std::deque<std::string> kept;
  JsonCursor cursor(R"(["plain é", "a\u00e9b\"\\\n", "\ud83d\ude00x"])", "test", kept);
  std::vector<std::string> found;
  cursor.array([&] { found.emplace_back(cursor.string()); });
  EXPECT_EQ(found, (std::vector<std::string>{"plain é", "aéb\"\\\n", "😀x"}));
}

TEST(JsonCursor, RefusesBrokenStringsAndNumbers) {
  for (const std::string_view text :
       {"\"open", "\"\\", "\"\\u12", "\"\\q\"", "\"\\ud800\"", "\"\\ud800\\u0041\"", "\"\xC3(\"",
        "\"\xC3", "\"\xF0\x9F\x98\"", "\"\xED\xA0\x80\"", "\"\xC0\xAF\"", "\"a\nb\"",
        "\"a\\n\x01\""}) {
    std::deque<std::string> kept;
    JsonCursor cursor(text, "test", kept);
    EXPECT_THROW(cursor.string(), Error) << text;
  }
  for (const std::string_view text : {"", "1x", "1.5", "x", "99999999999999999999", "-"}) {
    std::deque<std::string> kept;
    JsonCursor cursor(text, "test", kept);
    EXPECT_THROW(cursor.integer(), Error) << text;
  }
}

TEST(JsonCursor, ReadsWholeNumbersOfAnySize) {
  for (const int64_t value : {int64_t{0}, int64_t{-7}, int64_t{12345678}, int64_t{123456789},
                              int64_t{1234567890123}, INT64_MAX, INT64_MIN}) {
    for (const char* end : {"", ",", " "}) {
      std::deque<std::string> kept;
      const std::string text = " " + std::to_string(value) + end;
      JsonCursor cursor(text, "test", kept);
      EXPECT_EQ(cursor.integer(), value) << text;
    }
  }
}

TEST(RegexMatcher, GetsALargerStackForALongMatch) {
  const Regex regex("(?:(a)|(b))*c", "test");
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += "ab";
  text += "c";
  RegexMatcher matcher(regex);
  for (int round = 0; round < 2; ++round) {
    const auto& found = matcher.find_all(text);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0], (ByteSpan{0, static_cast<uint32_t>(text.size())}));
  }
}

TEST(WordCache, AnswersAsTheModelDoesEveryTime) {
  Vocabulary vocabulary;
  for (const char* token : {"[UNK]", "a", "##b", "##a", "b"}) {
    vocabulary.add(token, int64_t(vocabulary.size()));
  }
  const auto model = make_word_piece(std::move(vocabulary), "[UNK]", "##", 100);
  WordCache cache(*model);
  for (int round = 0; round < 2; ++round) {
    for (size_t i = 0; i < 3000; ++i) {
      std::string word;
      for (size_t bits = i + 1; bits > 0; bits /= 2) word += bits % 2 == 0 ? 'a' : 'b';
      if (i % 100 == 0) word += std::string(70, 'a');  // too long to be kept
      std::vector<WordToken> expected;
      model->tokenize(word, expected);
      const auto found = cache.tokens(word);
      ASSERT_EQ(found.size(), expected.size()) << word;
      for (size_t t = 0; t < found.size(); ++t) {
        ASSERT_EQ(found[t].id, expected[t].id) << word;
        ASSERT_EQ(found[t].end, expected[t].end) << word;
      }
    }
  }
}

}  // namespace
}  // namespace fovea
