// Folders of translation and speech models: what their files mean, and which language is chosen.
#include <gmock/gmock.h>

#include "fovea/text/tokenizer.h"
#include "support/data.h"
#include "support/errors.h"
#include "support/temp_folder.h"

namespace fovea {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::SizeIs;

const std::filesystem::path kOpenData = test_data("sentence_piece");

void copy_into(const std::filesystem::path& folder, const std::filesystem::path& from,
               std::initializer_list<const char*> names) {
  for (const char* name : names) {
    std::filesystem::copy_file(from / name, folder / name,
                               std::filesystem::copy_options::overwrite_existing);
  }
}

TEST(MarianFolder, CountsWordsByTheirMarks) {
  const Tokenizer source = open_tokenizer(kOpenData / "marian");
  const Encoding encoding = source.encode("The agreement  was signed");
  ASSERT_GT(encoding.size(), 4U);
  EXPECT_EQ(encoding.words[encoding.size() - 2], 3);
  EXPECT_EQ(encoding.words.back(), -1);
  EXPECT_EQ(encoding.tokens.back(), "</s>");
  for (size_t i = 0; i + 1 < encoding.size(); ++i) {
    const bool marked = i == 0 || encoding.tokens[i].starts_with("▁");
    if (encoding.tokens[i] != "<unk>") {
      EXPECT_EQ(i == 0 || encoding.words[i] != encoding.words[i - 1], marked) << i;
    }
  }
}

TEST(MarianFolder, KeepsItsPlaceAfterInvalidBytes) {
  const Tokenizer source = open_tokenizer(kOpenData / "marian");
  const std::string text = "on\xFF\xFE the  run";
  const Encoding encoding = source.encode(text);
  EXPECT_EQ(encoding.invalid_bytes, 2U);
  EXPECT_EQ(encoding.first_invalid, 2U);
  EXPECT_EQ(encoding.offsets[encoding.size() - 2].end, text.size());
  EXPECT_THAT(encoding.offsets, Contains(ByteSpan{2, 4}));  // unknown ones side by side are one
}

TEST(MarianFolder, TakesALanguageCodeAsOneTokenAndPutsTheChosenOneFirst) {
  const Tokenizer source = open_tokenizer(kOpenData / "marian");
  EXPECT_THAT(source.languages(), ElementsAre("fra", "deu_Latn"));
  EXPECT_EQ(source.language(), "");
  const Encoding written = source.encode(">>fra<< The");
  EXPECT_EQ(written.tokens[0], ">>fra<<");
  EXPECT_EQ(written.offsets[0], (ByteSpan{0, 7}));
  const Tokenizer french = source.with_language("fra");
  EXPECT_EQ(french.encode("The").ids, written.ids);
  EXPECT_TRUE(french.encode("The").special[0]);
  EXPECT_EQ(source.with_language(">>fra<<").language(), "fra");
  EXPECT_EQ(source.with_language("deu").language(), "deu_Latn");
  EXPECT_THAT(open_target_tokenizer(kOpenData / "marian").languages(), SizeIs(0));
}

TEST(MarianFolder, MayHaveAVocabularyForEachSide) {
  const TempFolder folder;
  copy_into(folder / "", kOpenData / "marian", {"source.spm", "target.spm", "vocab.json"});
  write_text(folder / "target_vocab.json", R"({"</s>":0,"<unk>":1,"▁le":2,"<pad>":3})");
  write_text(folder / "tokenizer_config.json", R"({"separate_vocabs":true,"pad_token":"<pad>"})");
  const Tokenizer target = open_target_tokenizer(folder / "");
  EXPECT_EQ(target.size(), 4);
  EXPECT_EQ(target.role("pad_token"), 3);
  EXPECT_EQ(target.decode(std::vector<int32_t>{2, 2, 0}), "le le");
  EXPECT_EQ(target.decode(std::vector<int32_t>{2, 1, 0}, false), "le<unk> </s>");
  EXPECT_GT(open_tokenizer(folder / "").size(), 100);
}

TEST(MarianFolder, IsToldWhatItsFilesLack) {
  const TempFolder folder;
  copy_into(folder / "", kOpenData / "marian", {"source.spm", "target.spm"});
  write_text(folder / "vocab.json", R"({"</s>":0,"a":1})");
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "<unk>", [&] { open_tokenizer(folder / ""); }));
  write_text(folder / "vocab.json", R"({"<unk>":0,"a":1})");
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "</s>", [&] { open_tokenizer(folder / ""); }));
  write_text(folder / "vocab.json", R"({"</s>":0,"<unk>":1})");
  EXPECT_NO_THROW(open_tokenizer(folder / ""));
  write_text(folder / "source.spm", "");
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "source.spm", [&] { open_tokenizer(folder / ""); }));
}

TEST(T5Folder, NumbersItsExtraIdsFromTheEnd) {
  const Tokenizer t5 = open_tokenizer(kOpenData / "t5");
  EXPECT_EQ(t5.find("<extra_id_0>"), t5.size() - 1);
  EXPECT_EQ(t5.find("<extra_id_99>"), t5.size() - 100);
  EXPECT_EQ(t5.find("</s>"), 1);
  EXPECT_TRUE(t5.is_special(t5.size() - 1));
  const Encoding pair = t5.encode_pair("the", "the");
  EXPECT_EQ(std::count(pair.ids.begin(), pair.ids.end(), 1), 2);
  const TempFolder folder;
  copy_into(folder / "", kOpenData / "t5", {"spiece.model"});
  write_text(folder / "tokenizer_config.json", R"({"extra_ids":0})");
  EXPECT_EQ(open_tokenizer(folder / "").size(), t5.size() - 100);
  write_text(folder / "tokenizer_config.json", R"({"tokenizer_class":"AlbertTokenizer"})");
  EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, "Albert", [&] { open_tokenizer(folder / ""); }));
}

TEST(MbartFolder, PutsTheLanguageBehindTheText) {
  const Tokenizer source = open_tokenizer(kOpenData / "mbart");
  EXPECT_THAT(source.languages(), SizeIs(25));
  const auto last_two = [](const Encoding& encoding) {
    return std::vector<std::string>(encoding.tokens.end() - 2, encoding.tokens.end());
  };
  EXPECT_THAT(last_two(source.encode("the")), ElementsAre("</s>", "en_XX"));
  EXPECT_THAT(last_two(open_target_tokenizer(kOpenData / "mbart").encode("le")),
              ElementsAre("</s>", "fr_XX"));
  EXPECT_EQ(source.language_id("ro_RO"), *source.find("ro_RO"));
  EXPECT_EQ(source.language_id("ro"), *source.find("ro_RO"));
  EXPECT_EQ(source.find("<mask>"), source.size() - 1);
}

TEST(MbartFolder, OfFiftyLanguagesPutsItBeforeTheText) {
  const TempFolder folder;
  copy_into(folder / "", kOpenData / "mbart", {"sentencepiece.bpe.model"});
  write_text(folder / "tokenizer_config.json",
             R"({"tokenizer_class":"MBart50TokenizerFast","src_lang":"de_DE"})");
  const Tokenizer fifty = open_tokenizer(folder / "");
  EXPECT_THAT(fifty.languages(), SizeIs(52));
  EXPECT_EQ(fifty.encode("the").tokens.front(), "de_DE");
  EXPECT_EQ(fifty.encode("the").tokens.back(), "</s>");
  write_text(folder / "tokenizer_config.json",
             R"({"tokenizer_class":"MBart50Tokenizer","src_lang":"xx"})");
  EXPECT_TRUE(fails_with(ErrorKind::kBadFile, "xx", [&] { open_tokenizer(folder / ""); }));
  // Without a class of its own, config.json tells.
  std::filesystem::remove(folder / "tokenizer_config.json");
  EXPECT_TRUE(
      fails_with(ErrorKind::kUnsupported, "tokenizer.json", [&] { open_tokenizer(folder / ""); }));
  write_text(folder / "config.json", R"({"model_type":"mbart"})");
  EXPECT_EQ(open_tokenizer(folder / "").encode("the").tokens.back(), "en_XX");
  write_text(folder / "config.json", R"({"model_type":"xlm-roberta"})");
  EXPECT_EQ(open_tokenizer(folder / "").encode("the").tokens.front(), "<s>");
}

TEST(NllbFolder, TakesItsLanguagesFromItsFiles) {
  const TempFolder folder;
  copy_into(folder / "", kOpenData / "mbart", {"sentencepiece.bpe.model"});
  write_text(folder / "tokenizer_config.json",
             R"({"tokenizer_class":"NllbTokenizer","legacy_behaviour":true})");
  write_text(
      folder / "special_tokens_map.json",
      R"({"additional_special_tokens":["eng_Latn",{"content":"fra_Latn"},"zho_Hans","zho_Hant"]})");
  const Tokenizer nllb = open_tokenizer(folder / "");
  EXPECT_EQ(nllb.encode("the").tokens.back(), "eng_Latn");
  EXPECT_EQ(nllb.with_language("fra").encode("le").tokens.back(), "fra_Latn");
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "zho_Hans, zho_Hant",
                         [&] { nllb.with_language("zho"); }));
}

TEST(Languages, ThatAreNotKnownAreToldWithSomeThatAre) {
  const Tokenizer m2m = open_tokenizer(kOpenData / "m2m100");
  EXPECT_TRUE(fails_with(ErrorKind::kInvalidArgument, "100 that it knows: af, am",
                         [&] { m2m.with_language("tlh"); }));
  EXPECT_THAT(m2m.encode("the").tokens, Contains("__en__"));
  EXPECT_EQ(open_target_tokenizer(kOpenData / "m2m100").encode("le").tokens.front(), "__fr__");
  const Tokenizer t5 = open_tokenizer(kOpenData / "t5");
  EXPECT_THAT(t5.languages(), SizeIs(0));
  EXPECT_TRUE(fails_with(ErrorKind::kUnsupported, "fr", [&] { t5.with_language("fr"); }));
}

TEST(BartFolder, PutsItsTokensAroundTheText) {
  const TempFolder folder;
  write_text(folder / "vocab.json", R"({"<s>":0,"<pad>":1,"</s>":2,"<unk>":3,"a":4,"b":5,"ab":6})");
  write_text(folder / "merges.txt", "#version: 0.2\na b\n");
  write_text(folder / "tokenizer_config.json", R"({"tokenizer_class":"BartTokenizer"})");
  const Tokenizer bart = open_tokenizer(folder / "");
  EXPECT_THAT(bart.encode("ab").ids, ElementsAre(0, 6, 2));
  EXPECT_THAT(bart.encode_pair("ab", "a").ids, ElementsAre(0, 6, 2, 2, 4, 2));
  EXPECT_EQ(open_target_tokenizer(folder / "").encode("ab").ids, bart.encode("ab").ids);
}

TEST(WhisperFolder, AddsItsPromptAndTheLanguage) {
  const TempFolder folder;
  write_text(folder / "vocab.json", R"({"a":0,"b":1,"ab":2,"<|endoftext|>":3})");
  write_text(folder / "merges.txt", "#version: 0.2\na b\n");
  write_text(folder / "added_tokens.json",
             R"({"<|notimestamps|>":9,"<|startoftranscript|>":4,"<|en|>":5,"<|fr|>":6,
                 "<|translate|>":7,"<|transcribe|>":8,"<|0.00|>":10})");
  write_text(folder / "tokenizer_config.json", R"({"tokenizer_class":"WhisperTokenizer"})");
  const Tokenizer whisper = open_tokenizer(folder / "");
  EXPECT_THAT(whisper.encode("ab").ids, ElementsAre(4, 9, 2, 3));
  EXPECT_THAT(whisper.languages(), ElementsAre("en", "fr"));
  EXPECT_THAT(whisper.with_language("fr").encode("ab").ids, ElementsAre(4, 6, 9, 2, 3));
  EXPECT_EQ(whisper.decode(std::vector<int32_t>{4, 9, 10, 2, 3}), "<|0.00|>ab");
  write_text(folder / "tokenizer_config.json",
             R"({"tokenizer_class":"WhisperTokenizer","language":"en","task":"transcribe"})");
  EXPECT_THAT(open_tokenizer(folder / "").encode("ab").ids, ElementsAre(4, 5, 8, 9, 2, 3));
}

}  // namespace
}  // namespace fovea
