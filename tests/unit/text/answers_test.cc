// The fixtures of tools/fixtures/make_tokenizer_fixture.py: a tokenizer of each kind, and what the
// `tokenizers` library answers for more than 2,000 texts.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <sstream>

#include "fovea/base/file.h"
#include "fovea/base/utf8.h"
#include "fovea/text/tokenizer.h"
#include "support/data.h"
#include "unit/text/short_hash.h"

namespace fovea {
namespace {

const std::filesystem::path kTextData = test_data("text");

std::vector<std::string> read_lines() {
  std::vector<std::string> lines;
  const Json json = Json::parse(read_text_file(kTextData / "lines.json"), "lines.json");
  for (const Json& line : json.as_array("lines.json")) lines.push_back(line.as_string("line"));
  return lines;
}

std::string tokens_of(const Encoding& encoding) {
  std::string text;
  for (size_t i = 0; i < encoding.size(); ++i) {
    text += fmt::format("{},{},{};", encoding.ids[i], encoding.offsets[i].begin,
                        encoding.offsets[i].end);
  }
  return text;
}

class Answers : public testing::TestWithParam<const char*> {};

TEST_P(Answers, AreThoseOfTheLibraryForEveryLine) {
  const std::string name = GetParam();
  const Tokenizer tokenizer = Tokenizer::from_file(kTextData / (name + ".json"));
  const std::vector<std::string> lines = read_lines();
  ASSERT_GE(lines.size(), 2000U);
  std::istringstream answers(read_text_file(kTextData / "answers" / (name + ".txt")));
  int wrong = 0;
  const auto compare = [&](const Encoding& encoding, const std::string& line) {
    size_t count = 0;
    std::string tokens_hash;
    std::string text_hash;
    ASSERT_TRUE(answers >> count >> tokens_hash >> text_hash);
    const std::string tokens = tokens_of(encoding);
    const std::string text = tokenizer.decode(encoding.ids);
    const bool same_tokens = encoding.size() == count && short_hash(tokens) == tokens_hash;
    const bool same_text = short_hash(text) == text_hash;
    if ((!same_tokens || !same_text) && ++wrong <= 5) {
      ADD_FAILURE() << name << (same_tokens ? " decodes " : " encodes ") << to_one_line(line)
                    << " as " << (same_tokens ? to_one_line(text) : tokens);
    }
  };
  for (const std::string& line : lines) compare(tokenizer.encode(line), line);
  for (size_t i = 0; i < 200; i += 2) {
    compare(tokenizer.encode_pair(lines[i], lines[i + 1]), lines[i] + " | " + lines[i + 1]);
  }
  EXPECT_EQ(wrong, 0) << name;
}

INSTANTIATE_TEST_SUITE_P(Fixtures, Answers,
                         testing::Values("bert_uncased", "bert_cased", "gpt2", "roberta", "llama3",
                                         "llama2", "metaspace", "unigram", "unigram_bytes",
                                         "word_level", "suffix_bpe"),
                         [](const auto& param) { return std::string(param.param); });

}  // namespace
}  // namespace fovea
