// The fixtures of tools/fixtures/make_sentence_piece_fixture.py: folders of translation models, and
// what transformers and the sentencepiece package answer for more than 500 texts.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <sstream>

#include "fovea/base/file.h"
#include "fovea/base/utf8.h"
#include "fovea/text/sentence_piece.h"
#include "fovea/text/tokenizer.h"
#include "support/data.h"
#include "unit/text/short_hash.h"

namespace fovea {
namespace {

const std::filesystem::path kPieceAnswerData = test_data("sentence_piece");
const std::filesystem::path kEnglishFrench =
    test_data().parent_path().parent_path() / "models" / "en-fr";

const std::vector<std::string>& lines() {
  static const std::vector<std::string> kept = [] {
    std::vector<std::string> read;
    const Json json = Json::parse(read_text_file(kPieceAnswerData / "lines.json"), "lines.json");
    for (const Json& line : json.as_array("lines.json")) read.push_back(line.as_string("line"));
    return read;
  }();
  return kept;
}

struct Answer {
  size_t count;
  std::string tokens;
  std::string text;
};

// Compares what `ask` gives for each line with the file of answers.
template <typename Ask>
void compare(const std::string& name, const Ask& ask) {
  std::istringstream answers(read_text_file(kPieceAnswerData / "answers" / (name + ".txt")));
  ASSERT_GT(lines().size(), 500U);
  int wrong = 0;
  for (const std::string& line : lines()) {
    Answer expected;
    ASSERT_TRUE(answers >> expected.count >> expected.tokens >> expected.text);
    const Answer found = ask(line);
    const bool same_tokens =
        found.count == expected.count && short_hash(found.tokens) == expected.tokens;
    const bool same_text = short_hash(found.text) == expected.text;
    if ((!same_tokens || !same_text) && ++wrong <= 5) {
      ADD_FAILURE() << name << (same_tokens ? " decodes " : " encodes ") << to_one_line(line)
                    << " as " << (same_tokens ? to_one_line(found.text) : found.tokens);
    }
  }
  EXPECT_EQ(wrong, 0) << name;
}

// Spans lie in the text in order, whole characters each; what lies between them gives no tokens by
// itself; words are counted up.
void check_places(const Tokenizer& tokenizer, const std::string& line) {
  const Encoding encoding = tokenizer.encode(line);
  uint32_t covered = 0;
  int32_t word = 0;
  const auto check_gap = [&](uint32_t end) {
    if (end <= covered) return;
    const std::string gap = line.substr(covered, end - covered);
    EXPECT_EQ(tokenizer.encode(gap, false).size(), 0U) << to_one_line(gap) << " of " << line;
  };
  for (size_t i = 0; i < encoding.size(); ++i) {
    if (encoding.special[i]) continue;
    const auto [begin, end] = encoding.offsets[i];
    ASSERT_LE(begin, end);
    ASSERT_LE(end, line.size());
    ASSERT_TRUE(begin == line.size() || (line[begin] & '\xC0') != '\x80') << to_one_line(line);
    ASSERT_TRUE(end == line.size() || (line[end] & '\xC0') != '\x80') << to_one_line(line);
    const bool same_character = i > 0 && encoding.offsets[i] == encoding.offsets[i - 1];
    ASSERT_TRUE(begin >= covered || same_character) << i << " of " << to_one_line(line);
    check_gap(begin);
    covered = end;
    ASSERT_TRUE(encoding.words[i] == word || encoding.words[i] == word + 1) << to_one_line(line);
    word = encoding.words[i];
  }
  check_gap(static_cast<uint32_t>(line.size()));
}

Answer ask_tokenizer(const Tokenizer& tokenizer, const std::string& line) {
  const Encoding encoding = tokenizer.encode(line);
  std::string ids;
  for (const int32_t id : encoding.ids) ids += fmt::format("{};", id);
  return {encoding.size(), ids, tokenizer.decode(encoding.ids)};
}

// As above for tokenizers that SentencePiece cuts the texts of.
Answer ask_pieces(const Tokenizer& tokenizer, const std::string& line) {
  check_places(tokenizer, line);
  return ask_tokenizer(tokenizer, line);
}

TEST(SentencePieceAnswers, OfEveryModelTypeAreThoseOfThePackageWithTheirOffsets) {
  for (const std::string name :
       {"unigram_bytes", "bpe_bytes", "suffix", "word", "char", "en_fr_pieces"}) {
    const auto path = name == "en_fr_pieces" ? kEnglishFrench / "source.spm"
                                             : kPieceAnswerData / "models" / (name + ".model");
    const auto pieces = SentencePiece::open(path);
    compare(name, [&](const std::string& line) {
      Answer answer{};
      std::vector<std::string> written;
      pieces->encode(line, [&](const SentencePiece::Piece& piece) {
        answer.tokens +=
            fmt::format("{},{},{},{};", piece.id, piece.text, piece.span.begin, piece.span.end);
        written.emplace_back(piece.text);
      });
      answer.count = written.size();
      answer.text = pieces->decode(written);
      return answer;
    });
  }
}

TEST(SentencePieceAnswers, OfMarianAreThoseOfTransformersOnBothSides) {
  for (const std::string name : {"marian", "en_fr"}) {
    const auto folder = name == "marian" ? kPieceAnswerData / "marian" : kEnglishFrench;
    const Tokenizer source = open_tokenizer(folder);
    const Tokenizer target = open_target_tokenizer(folder);
    compare(name + "_source", [&](const std::string& line) { return ask_pieces(source, line); });
    compare(name + "_target", [&](const std::string& line) { return ask_pieces(target, line); });
  }
}

TEST(SentencePieceAnswers, OfT5MbartAndDebertaAreThoseOfTheirPieces) {
  for (const std::string name : {"t5", "mbart"}) {
    const Tokenizer tokenizer = open_tokenizer(kPieceAnswerData / name);
    compare(name, [&](const std::string& line) { return ask_pieces(tokenizer, line); });
  }
  const Tokenizer deberta = open_tokenizer(kPieceAnswerData / "deberta");
  compare("deberta", [&](const std::string& line) { return ask_tokenizer(deberta, line); });
}

TEST(SentencePieceAnswers, FollowTheLanguageThatIsChosen) {
  const auto follows = [](const std::string& name, std::initializer_list<const char*> codes) {
    const Tokenizer opened = open_tokenizer(kPieceAnswerData / name);
    EXPECT_EQ(opened.language(), *codes.begin());
    for (const char* code : codes) {
      const Tokenizer tokenizer = opened.with_language(code);
      compare(name + "_" + code, [&](const std::string& line) {
        if (name == "m2m100") check_places(tokenizer, line);
        return ask_tokenizer(tokenizer, line);
      });
    }
  };
  follows("m2m100", {"en", "fr"});
  follows("mbart50_json", {"en_XX", "fr_XX"});
  follows("nllb_json", {"eng_Latn", "fra_Latn"});
}

}  // namespace
}  // namespace fovea
