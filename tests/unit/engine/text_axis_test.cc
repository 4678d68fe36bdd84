#include "fovea/engine/text_axis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/model_with_words.h"
#include "support/temp_folder.h"

namespace fovea {
namespace {

using ::testing::ElementsAre;

class TextAxis : public ::testing::Test {
 protected:
  TextAxis() : tokenizer_(open()) {}
  Tokenizer open() const {
    write_text(folder_ / "vocab.txt", std::string(kTokensOfWords));
    return Tokenizer::from_vocab_txt(folder_ / "vocab.txt");
  }
  // What of the source each position covers; "-" for special ones.
  static std::vector<std::string> covered(const Axis& axis) {
    std::vector<std::string> parts;
    for (const Position& p : axis.positions) {
      parts.push_back(p.special
                          ? "-"
                          : axis.source.substr(static_cast<size_t>(p.source_begin),
                                               static_cast<size_t>(p.source_end - p.source_begin)));
    }
    return parts;
  }
  static std::vector<int64_t> words(const Axis& axis) {
    std::vector<int64_t> numbers;
    for (const Position& p : axis.positions) numbers.push_back(p.word);
    return numbers;
  }
  static std::vector<std::string> texts(const Axis& axis) {
    std::vector<std::string> result;
    for (const Position& p : axis.positions) result.push_back(p.text);
    return result;
  }

  TempFolder folder_;
  Tokenizer tokenizer_;
};

TEST_F(TextAxis, TokensCoverTheTextTheyCameFrom) {
  const std::string text = "The  cats é unbelievable";
  const Axis axis = text_axis(tokenizer_, tokenizer_.encode(text), text, "");
  EXPECT_EQ(axis.name, "tokens");
  EXPECT_EQ(axis.source, text);
  EXPECT_EQ(axis.positions.size(), tokenizer_.encode(text).size());
  EXPECT_THAT(covered(axis), ElementsAre("-", "The", "cat", "s", "é", "un", "believ", "able", "-"));
  EXPECT_THAT(words(axis), ElementsAre(-1, 0, 1, 1, 2, 3, 3, 3, -1));
  EXPECT_EQ(axis.positions.front().source_end, 0);
  EXPECT_EQ(axis.positions[0].text, tokenizer_.info(2).display);
}

TEST_F(TextAxis, APairIsTheSecondLineOfTheSource) {
  const std::string text = "the cat", pair = "the cats sat";
  const Axis axis = text_axis(tokenizer_, tokenizer_.encode_pair(text, pair), text, pair);
  EXPECT_EQ(axis.source, "the cat\nthe cats sat");
  EXPECT_THAT(covered(axis), ElementsAre("-", "the", "cat", "-", "the", "cat", "s", "sat", "-"));
  // Words of the pair are counted on.
  EXPECT_THAT(words(axis), ElementsAre(-1, 0, 1, -1, 2, 3, 3, 4, -1));
}

TEST_F(TextAxis, IdsAloneHaveTheVocabularysNames) {
  const std::vector<int64_t> ids{2, 6, 40};
  const Axis named = ids_axis(&tokenizer_, std::span(ids).first(2));
  EXPECT_THAT(texts(named), ElementsAre(tokenizer_.info(2).display, "cat"));
  EXPECT_TRUE(named.positions[0].special);
  EXPECT_FALSE(named.positions[1].special);
  EXPECT_THAT(texts(ids_axis(nullptr, ids)), ElementsAre("#2", "#6", "#40"));
}

TEST_F(TextAxis, WordsAtSpacesAreWhatSpacesPart) {
  //                     0         1         2
  //                     0123456789012345678901
  Axis axis{.source = "  don't  stop, 3 .\t ! "};
  const auto piece = [](int64_t begin, int64_t end) {
    return Position{.source_begin = begin, .source_end = end};
  };
  // A space by itself belongs to the word that follows; behind the last word to the last.
  axis.positions = {piece(0, 1),   piece(1, 5),   piece(5, 6),   piece(6, 7),
                    piece(8, 13),  piece(13, 14), piece(14, 15), piece(15, 16),
                    piece(17, 18), piece(20, 21), piece(21, 22), {.special = true}};
  divide_at_spaces(axis);
  EXPECT_THAT(words(axis), ElementsAre(0, 0, 0, 0, 1, 1, 2, 2, 3, 4, 4, -1));
  Axis blank{.source = "  ", .positions = {piece(0, 1)}};
  divide_at_spaces(blank);
  EXPECT_THAT(words(blank), ElementsAre(-1));
}

TEST_F(TextAxis, StepsOfAGenerationSayWhatTheyPredict) {
  const std::vector<int64_t> ids{5, 6, 7, 13};  // "the cat", then "sat on"
  const Axis columns = ids_axis(&tokenizer_, std::span(ids).first(3));
  const Axis steps = steps_axis(columns, &tokenizer_, ids, 2);
  EXPECT_EQ(steps.name, "steps");
  EXPECT_THAT(texts(steps),
              ElementsAre("the", "after cat → predicts sat", "after sat → predicts on"));
  EXPECT_THAT(texts(columns), ElementsAre("the", "cat", "sat"));
  const std::vector<double> chosen{0.625, 0.0004};
  EXPECT_THAT(
      texts(steps_axis(columns, &tokenizer_, ids, 2, chosen)),
      ElementsAre("the", "after cat → predicts sat 0.62", "after sat → predicts on 0.0004"));
}

}  // namespace
}  // namespace fovea
