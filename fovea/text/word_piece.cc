// WordPiece: the longest piece of the vocabulary, again and again; a word that does not come out is
// unknown as a whole. And WordLevel, where a word is in the vocabulary or unknown.
#include "fovea/base/error.h"
#include "fovea/text/token_model.h"
#include "fovea/text/unicode.h"

namespace fovea {
namespace {

int32_t required_unknown(const Vocabulary& vocabulary, const std::string& unknown) {
  const auto id = vocabulary.find(unknown);
  if (!id) {
    fail(ErrorKind::kBadFile,
         "a word is not in the vocabulary and neither is its unknown token '{}'", unknown);
  }
  return *id;
}

class WordPiece final : public TokenModel {
 public:
  WordPiece(Vocabulary words, std::string unknown, std::string prefix, size_t longest_word)
      : TokenModel(std::move(words)),
        unknown_(std::move(unknown)),
        prefix_(std::move(prefix)),
        longest_word_(longest_word) {}

  void tokenize(std::string_view word, std::vector<WordToken>& tokens) const override {
    const size_t first = tokens.size();
    size_t characters = 0;
    for (const char byte : word) characters += is_continuation(byte) ? 0 : 1;
    bool known = characters <= longest_word_;
    std::string piece;
    for (size_t begin = 0; known && begin < word.size();) {
      piece.clear();
      if (begin > 0) piece = prefix_;
      const size_t lead = piece.size();
      piece += word.substr(begin);
      size_t end = word.size();
      std::optional<int32_t> id;
      while (end > begin) {
        id = vocabulary().find(std::string_view(piece).substr(0, lead + end - begin));
        if (id) break;
        --end;
        while (end > begin && is_continuation(word[end])) --end;
      }
      known = id.has_value();
      if (known) {
        tokens.push_back({*id, static_cast<uint32_t>(begin), static_cast<uint32_t>(end)});
      }
      begin = end;
    }
    if (known) return;
    tokens.resize(first);
    tokens.push_back(
        {required_unknown(vocabulary(), unknown_), 0, static_cast<uint32_t>(word.size())});
  }
  std::string_view continuing_prefix() const override { return prefix_; }
  std::optional<int32_t> unknown_id() const override { return vocabulary().find(unknown_); }

 private:
  std::string unknown_;
  std::string prefix_;
  size_t longest_word_;
};

class WordLevel final : public TokenModel {
 public:
  WordLevel(Vocabulary words, std::string unknown)
      : TokenModel(std::move(words)), unknown_(std::move(unknown)) {}

  void tokenize(std::string_view word, std::vector<WordToken>& tokens) const override {
    const auto id = vocabulary().find(word);
    tokens.push_back({id ? *id : required_unknown(vocabulary(), unknown_), 0,
                      static_cast<uint32_t>(word.size())});
  }
  std::optional<int32_t> unknown_id() const override { return vocabulary().find(unknown_); }

 private:
  std::string unknown_;
};

}  // namespace

std::shared_ptr<const TokenModel> make_word_piece(Vocabulary vocabulary, std::string unknown,
                                                  std::string prefix, size_t longest_word) {
  return std::make_shared<WordPiece>(std::move(vocabulary), std::move(unknown), std::move(prefix),
                                     longest_word);
}

std::shared_ptr<const TokenModel> make_word_level(Vocabulary vocabulary, std::string unknown) {
  return std::make_shared<WordLevel>(std::move(vocabulary), std::move(unknown));
}

}  // namespace fovea
