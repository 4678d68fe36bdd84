// Vocabularies of families that are published without a tokenizer.json. The ids are those of
// transformers 5.22.
#include <gtest/gtest.h>

#include "fovea/text/tokenizer.h"
#include "support/temp_folder.h"

namespace fovea {
namespace {

std::vector<int32_t> family_ids(const Tokenizer& tokenizer, std::string_view text) {
  return tokenizer.encode(text).ids;
}

TEST(FamilyVocabularies, OfEsmHaveATokenForEveryAminoAcid) {
  const TempFolder folder;
  write_text(folder / "vocab.txt",
             "<cls>\n<pad>\n<eos>\n<unk>\nL\nA\nG\nV\nS\nE\nR\nT\nI\nD\nP\nK\nQ\nN\nF\nY\nM\nH\nW"
             "\nC\nX\nB\nU\nZ\nO\n.\n-\n<null_1>\n<mask>");
  write_text(folder / "config.json", R"({"model_type": "esm"})");
  const Tokenizer tokenizer = open_tokenizer(folder / ".");
  using Ids = std::vector<int32_t>;
  EXPECT_EQ(family_ids(tokenizer, "MKTAYIAK"), (Ids{0, 20, 15, 11, 5, 19, 12, 5, 15, 2}));
  EXPECT_EQ(family_ids(tokenizer, "MK<mask>A"), (Ids{0, 20, 15, 32, 5, 2}));
  EXPECT_EQ(family_ids(tokenizer, "M K T"), (Ids{0, 20, 15, 11, 2}));
  EXPECT_EQ(family_ids(tokenizer, "mkt MKT"), (Ids{0, 3, 20, 15, 11, 2}));
  EXPECT_EQ(family_ids(tokenizer, "M-K.Q"), (Ids{0, 20, 30, 15, 29, 16, 2}));
  EXPECT_EQ(family_ids(tokenizer, " AB1C "), (Ids{0, 5, 25, 3, 23, 2}));
  EXPECT_EQ(tokenizer.encode_pair("MK", "TA").ids, (Ids{0, 20, 15, 2, 11, 5, 2}));
}

TEST(FamilyVocabularies, OfOptBeginEveryTextWithAToken) {
  const TempFolder folder;
  write_text(folder / "vocab.json",
             R"({"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3, "a": 4, "b": 5, "ab": 6})");
  write_text(folder / "merges.txt", "#version: 0.2\na b\n");
  write_text(folder / "tokenizer_config.json",
             R"({"tokenizer_class": "GPT2Tokenizer", "add_bos_token": true,
                      "bos_token": {"content": "</s>"}, "eos_token": "</s>"})");
  const Tokenizer tokenizer = open_tokenizer(folder / ".");
  EXPECT_EQ(family_ids(tokenizer, "abb"), (std::vector<int32_t>{2, 6, 5}));
  EXPECT_EQ(tokenizer.encode_pair("a", "b").ids, (std::vector<int32_t>{2, 4, 2, 5}));
}

}  // namespace
}  // namespace fovea
