#include "fovea/text/tokenizer.h"

#include <gmock/gmock.h>

#include "fovea/text/added_tokens.h"
#include "fovea/text/gguf_pre_tokenizer.h"
#include "fovea/text/json_cursor.h"
#include "fovea/text/token_display.h"
#include "fovea/text/unicode.h"
#include "fovea/text/unicode_forms.h"
#include "support/data.h"
#include "support/errors.h"
#include "support/temp_folder.h"

namespace fovea {
namespace {

using testing::ElementsAre;

const std::filesystem::path kTokenizerData = test_data("text");

std::vector<std::string> displays(const Tokenizer& tokenizer, std::string_view text) {
  std::vector<std::string> shown;
  for (const auto& token : tokenizer.show(tokenizer.encode(text))) {
    shown.push_back(token.info.display);
  }
  return shown;
}

std::string model_json(std::string_view model) {
  return R"({"model":)" + std::string(model) + "}";
}

TEST(Tokenizer, ReplacesAndReportsInvalidUtf8) {
  const Tokenizer tokenizer = Tokenizer::from_file(kTokenizerData / "gpt2.json");
  const Encoding encoding = tokenizer.encode("ab\xFF\xFE c");
  EXPECT_EQ(encoding.invalid_bytes, 2U);
  EXPECT_EQ(encoding.first_invalid, 2U);
  EXPECT_EQ(tokenizer.decode(encoding.ids), "ab\uFFFD\uFFFD c");
  EXPECT_EQ(encoding.offsets.back().end, 6U);
  EXPECT_EQ(tokenizer.encode("ok").invalid_bytes, 0U);
  EXPECT_TRUE(tokenizer.encode_pair("ok", "\xC3").invalid_in_pair);
}

TEST(Tokenizer, GivesNoTokensButSpecialOnesForEmptyText) {
  EXPECT_EQ(Tokenizer::from_file(kTokenizerData / "gpt2.json").encode("").size(), 0U);
  const Tokenizer bert = Tokenizer::from_file(kTokenizerData / "bert_uncased.json");
  EXPECT_THAT(bert.encode("").tokens, ElementsAre("[CLS]", "[SEP]"));
  EXPECT_EQ(bert.encode("", false).size(), 0U);
}

TEST(Tokenizer, NumbersWordsAndSequences) {
  const Tokenizer bert = Tokenizer::from_file(kTokenizerData / "bert_uncased.json");
  const Encoding encoding = bert.encode_pair("the agreement", "run");
  EXPECT_EQ(encoding.words.front(), -1);
  EXPECT_EQ(encoding.words[1], 0);
  EXPECT_EQ(encoding.sequences.front(), -1);
  EXPECT_EQ(encoding.sequences[1], 0);
  EXPECT_EQ(encoding.sequences[encoding.size() - 2], 1);
  EXPECT_EQ(encoding.type_ids.back(), 1);
  EXPECT_TRUE(encoding.special.front());
}

TEST(Tokenizer, ShowsSpacesBytesAndSpecialTokens) {
  const Tokenizer gpt2 = Tokenizer::from_file(kTokenizerData / "gpt2.json");
  EXPECT_EQ(displays(gpt2, "\n").front(), "↵");
  EXPECT_EQ(displays(gpt2, "b a").back(), "·a");
  const auto shown = gpt2.show(gpt2.encode("\U0001F6F8"));
  ASSERT_GT(shown.size(), 1U);
  EXPECT_EQ(shown[0].glyph, "\U0001F6F8");
  EXPECT_EQ(shown[0].parts, static_cast<int>(shown.size()));
  EXPECT_EQ(shown[0].info.kind, TokenKind::kBytes);
  EXPECT_EQ(shown[0].info.display.substr(0, 5), "⟨F0");
  const Tokenizer bert = Tokenizer::from_file(kTokenizerData / "bert_uncased.json");
  EXPECT_EQ(bert.info(*bert.find("[MASK]")).kind, TokenKind::kSpecial);
  EXPECT_EQ(display_of("   ", TokenKind::kText), "␣×3");
  EXPECT_EQ(display_of("ing", TokenKind::kContinuation), "‿ing");
  EXPECT_EQ(display_of("\x1b", TokenKind::kText), "\\x1b");
}

TEST(Tokenizer, GivesTheBytesThatATokenStandsFor) {
  const Tokenizer gpt2 = Tokenizer::from_file(kTokenizerData / "gpt2.json");
  EXPECT_EQ(gpt2.info(*gpt2.find("Ġa")).bytes, " a");
  const Tokenizer llama = Tokenizer::from_file(kTokenizerData / "llama2.json");
  EXPECT_EQ(llama.info(*llama.find("<0xE2>")).bytes, "\xE2");
  EXPECT_EQ(llama.info(*llama.find("▁the")).bytes, " the");
}

TEST(Tokenizer, OpensFoldersThatHoldOnlyAVocabulary) {
  const TempFolder folder;
  EXPECT_TRUE(fails_with(ErrorKind::kNotFound, "vocab.txt", [&] { open_tokenizer(folder / ""); }));
  write_text(folder / "vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\nhello\nw\n##orld\nÉté\n");
  const Tokenizer lower = open_tokenizer(folder / "");
  EXPECT_THAT(lower.encode("Hello WORLD").ids, ElementsAre(2, 4, 5, 6, 3));
  write_text(folder / "tokenizer_config.json",
             R"({"do_lower_case":false,"cls_token":{"content":"[CLS]"},"sep_token":"[SEP]"})");
  const Tokenizer cased = open_tokenizer(folder / "");
  EXPECT_THAT(cased.encode("Été Hello").ids, ElementsAre(2, 7, 1, 3));
  EXPECT_EQ(cased.role("cls_token"), 2);
  EXPECT_EQ(cased.decode(std::vector<int32_t>{2, 5, 6, 3}), "world");
}

TEST(Tokenizer, OpensVocabJsonWithMerges) {
  const TempFolder folder;
  write_text(folder / "vocab.json", R"({"a":0,"b":1,"\u0120":2,"ab":3,"\u0120ab":4})");
  write_text(folder / "merges.txt", "#version: 0.2\na b\nĠ ab\n");
  const Tokenizer tokenizer = open_tokenizer(folder / "");
  EXPECT_THAT(tokenizer.encode("ab ab").ids, ElementsAre(3, 4));
  EXPECT_EQ(tokenizer.decode(std::vector<int32_t>{3, 4}), "ab ab");
}

TEST(Tokenizer, ReadsByteLevelVocabulariesOfGguf) {
  GgufVocabulary gguf{.kind = "gpt2"};
  gguf.tokens = {"<s>", "a", "b", "1", "Ġ", "ab", "Ġab"};
  gguf.merges = {"a b", "Ġ ab"};
  gguf.token_types = {3, 1, 1, 1, 1, 1, 1};
  gguf.bos = 0;
  gguf.add_bos = true;
  for (const char* pre : {"gpt-2", "smollm", "llama-bpe", "qwen2", "tekken", "default",
                          "deepseek-llm", "deepseek-coder", "deepseek-v3", "falcon", "gpt-4o",
                          "smaug-bpe", "viking", "seed-coder", "minicpm5", "qwen35"}) {
    gguf.pre = pre;
    const Tokenizer tokenizer = Tokenizer::from_gguf(gguf, "test");
    EXPECT_THAT(tokenizer.encode("ab ab<s>").ids, ElementsAre(0, 5, 6, 0)) << pre;
    EXPECT_EQ(tokenizer.role("bos_token"), 0);
    EXPECT_EQ(tokenizer.encode("111", false).size(), 3U);
  }
  gguf.pre = "other";
  EXPECT_TRUE(
      fails_with(ErrorKind::kUnsupported, "'other'", [&] { Tokenizer::from_gguf(gguf, "test"); }));
  gguf.pre = "gpt-2";
  gguf.tokens[3] = "";
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "has a hole: token 3",
                         [&] { Tokenizer::from_gguf(gguf, "test"); }));
  gguf.kind = "t5";
  gguf.tokens[3] = "1";
  EXPECT_TRUE(fails_with(ErrorKind::kUnsupported,
                         "'t5'; of those within GGUF files fovea reads gpt2",
                         [&] { Tokenizer::from_gguf(gguf, "test"); }));
}

TEST(Tokenizer, WhatAGgufPreTokenizerImpliesIsThatOfLlamaCpp) {
  EXPECT_TRUE(gguf_pre_tokenizer("llama-bpe", "test").ignores_merges);
  EXPECT_TRUE(gguf_pre_tokenizer("llama-bpe", "test").adds_bos);
  EXPECT_FALSE(gguf_pre_tokenizer("qwen2", "test").adds_bos);
  // Files of RoBERTa say themselves that they want <s> and </s>; a separator alone adds nothing.
  GgufVocabulary gguf{.kind = "gpt2", .pre = "roberta-bpe"};
  gguf.tokens = {"<s>", "</s>", "a"};
  gguf.token_types = {3, 3, 1};
  gguf.bos = 0;
  gguf.eos = gguf.separator = 1;
  gguf.add_separator = true;
  EXPECT_THAT(Tokenizer::from_gguf(gguf, "test").encode("a").ids, ElementsAre(2));
  gguf.add_bos = gguf.add_eos = true;
  EXPECT_THAT(Tokenizer::from_gguf(gguf, "test").encode("a").ids, ElementsAre(0, 2, 1));
}

TEST(Tokenizer, ReadsScoredPiecesOfGguf) {
  GgufVocabulary gguf{.kind = "llama"};
  gguf.tokens = {"<unk>", "<s>", "</s>", "<0xC3>", "<0xA9>", "▁", "a", "b", "ab", "▁a", "  "};
  gguf.scores = {0, 0, 0, 0, 0, -9, -8, -7, -2, -1, -1000};
  gguf.token_types = {2, 3, 3, 6, 6, 1, 1, 1, 1, 1, 4};
  const Tokenizer tokenizer = Tokenizer::from_gguf(gguf, "test");
  // "▁a" has a higher score than "ab"; é is two bytes; two spaces are one token and stand for no
  // prefix; a text behind a special token has one again.
  EXPECT_THAT(tokenizer.encode("ab").ids, ElementsAre(1, 9, 7));
  EXPECT_THAT(tokenizer.encode("aé").ids, ElementsAre(1, 9, 3, 4));
  EXPECT_THAT(tokenizer.encode("b  b</s>a", false).ids, ElementsAre(5, 7, 10, 5, 7, 2, 9));
  EXPECT_EQ(tokenizer.decode(std::vector<int32_t>{9, 7, 3, 4}), "abé");
  gguf.add_space_prefix = false;
  gguf.add_bos = false;
  EXPECT_THAT(Tokenizer::from_gguf(gguf, "test").encode("abb").ids, ElementsAre(8, 7));
  gguf.scores.pop_back();
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "11 pieces but 10 scores",
                         [&] { Tokenizer::from_gguf(gguf, "test"); }));
}

TEST(Tokenizer, ReadsWordPiecesOfGguf) {
  GgufVocabulary gguf{.kind = "bert"};
  gguf.tokens = {"[PAD]", "[UNK]", "[CLS]", "[SEP]",  "▁un",
                 "happy", "▁cat",  "▁!",    "[MASK]", "<tool>"};
  gguf.token_types = {3, 3, 3, 3, 1, 1, 1, 1, 3, 4};
  gguf.unknown = 1;
  gguf.cls = 2;
  gguf.separator = 3;
  const Tokenizer tokenizer = Tokenizer::from_gguf(gguf, "test");
  EXPECT_THAT(tokenizer.encode("Unhappy cät! dog [MASK]").ids, ElementsAre(2, 4, 5, 6, 7, 1, 8, 3));
  EXPECT_THAT(tokenizer.encode_pair("cat", "un").ids, ElementsAre(2, 6, 3, 4, 3));
  EXPECT_EQ(tokenizer.role("mask_token"), 8);
  EXPECT_EQ(tokenizer.token(5), "##happy");
  EXPECT_THAT(tokenizer.encode("Un<tool>cat", false).ids, ElementsAre(4, 9, 6));
  gguf.token_types.clear();  // then those are known that have a role
  EXPECT_THAT(Tokenizer::from_gguf(gguf, "test").encode("un[MASK]", false).ids, ElementsAre(4, 8));
}

TEST(Tokenizer, RefusesFilesThatCannotBe) {
  const auto refuses = [](ErrorKind kind, std::string_view part, const std::string& text) {
    return fails_with(kind, part, [&] { Tokenizer::from_json(text, "t.json"); });
  };
  const auto bad = ErrorKind::kBadFile;
  const auto unsupported = ErrorKind::kUnsupported;
  EXPECT_TRUE(refuses(bad, "model", "{}"));
  EXPECT_TRUE(refuses(bad, "t.json", "[1"));
  EXPECT_TRUE(refuses(bad, "UTF-8", "{\"\xFF\":1}"));
  EXPECT_TRUE(refuses(unsupported, "Magic", model_json(R"({"type":"Magic","vocab":{}})")));
  EXPECT_TRUE(refuses(unsupported, "dropout",
                      model_json(R"({"type":"BPE","dropout":0.1,"vocab":{},"merges":[]})")));
  EXPECT_TRUE(
      refuses(bad, "merge", model_json(R"({"type":"BPE","vocab":{"a":0},"merges":["a b"]})")));
  EXPECT_TRUE(
      refuses(bad, "unk_id", model_json(R"({"type":"Unigram","unk_id":5,"vocab":[["a",-1.0]]})")));
  EXPECT_TRUE(
      refuses(unsupported, "id", model_json(R"({"type":"BPE","vocab":{"a":-3},"merges":[]})")));
  EXPECT_TRUE(
      refuses(bad, "pattern",
              R"({"pre_tokenizer":{"type":"Split","pattern":{"Regex":"(a"},"behavior":"Removed"},
                         "model":{"type":"BPE","vocab":{},"merges":[]}})"));
  EXPECT_TRUE(
      refuses(unsupported, "Nope",
              R"({"normalizer":{"type":"Nope"},"model":{"type":"BPE","vocab":{},"merges":[]}})"));
}

TEST(Tokenizer, TakesMergesAsStringsAndAsPairs) {
  for (const char* merges : {R"(["a b"])", R"([["a","b"]])"}) {
    const Tokenizer tokenizer =
        Tokenizer::from_json(model_json(R"({"type":"BPE","vocab":{"a":0,"b":1,"ab":2},"merges":)" +
                                        std::string(merges) + "}"),
                             "t");
    EXPECT_THAT(tokenizer.encode("abab").ids, ElementsAre(2, 2));
  }
}

TEST(Tokenizer, JoinsLongWordsAsShortOnes) {
  const Tokenizer tokenizer = Tokenizer::from_json(
      model_json(
          R"({"type":"BPE","vocab":{"a":0,"b":1,"ab":2,"aa":3,"abab":4},"merges":["a b","a a","ab ab"]})"),
      "t");
  std::string text;
  for (int i = 0; i < 100; ++i) text += "ab";  // 200 symbols: the queue, not the scan
  EXPECT_EQ(tokenizer.encode(text).ids, std::vector<int32_t>(50, 4));
}

TEST(UnicodeForms, ComposeAndDecomposeWithSpans) {
  AlignedText text("e\u0301x");
  apply_unicode_form(text, UnicodeForm::kNfc);
  EXPECT_EQ(text.text(), "éx");
  EXPECT_EQ(text.source(2, 3), (ByteSpan{3, 4}));
  apply_unicode_form(text, UnicodeForm::kNfd);
  EXPECT_EQ(text.text(), "e\u0301x");
  AlignedText hangul("각");
  apply_unicode_form(hangul, UnicodeForm::kNfkd);
  EXPECT_EQ(hangul.text().size(), 9U);
}

}  // namespace
}  // namespace fovea
