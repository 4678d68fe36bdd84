// Models of tokenizer.json: how a word becomes tokens of the vocabulary.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/base/json.h"
#include "fovea/text/vocabulary.h"

namespace fovea {

// A token and the bytes of the word it covers.
struct WordToken {
  int32_t id;
  uint32_t begin;
  uint32_t end;
  bool begins_word = false;  // models that cut whole texts: another word than that before it
};

class TokenModel {
 public:
  virtual ~TokenModel() = default;
  // Adds the tokens of one word, or of a whole text where there is no pre-tokenizer. May be called
  // from any thread. Throws Error{kBadFile} if the word needs an unknown token that the vocabulary
  // lacks.
  virtual void tokenize(std::string_view word, std::vector<WordToken>& tokens) const = 0;
  virtual std::string_view continuing_prefix() const { return {}; }
  virtual std::string_view word_suffix() const { return {}; }
  virtual bool has_byte_fallback() const { return false; }
  virtual std::optional<int32_t> unknown_id() const { return std::nullopt; }

  const Vocabulary& vocabulary() const { return vocabulary_; }

 protected:
  explicit TokenModel(Vocabulary vocabulary) : vocabulary_(std::move(vocabulary)) {}

 private:
  Vocabulary vocabulary_;
};

// The large members of "model", which are read without building JSON values.
struct ModelTables {
  Vocabulary vocabulary;
  std::vector<double> scores;  // Unigram, scored pieces: by id
  std::vector<std::pair<std::string_view, std::string_view>> merges;  // BPE, best first
  std::deque<std::string> kept;  // texts that merges point to, where the file had to be rewritten
};

struct BpeOptions {
  std::string unknown;  // empty: none
  std::string continuing_prefix;
  std::string word_suffix;
  bool fuse_unknown = false;
  bool byte_fallback = false;
  bool ignore_merges = false;
};

std::shared_ptr<const TokenModel> make_bpe(ModelTables tables, const BpeOptions& options,
                                           std::string_view where);
std::shared_ptr<const TokenModel> make_word_piece(Vocabulary vocabulary, std::string unknown,
                                                  std::string prefix, size_t longest_word);
std::shared_ptr<const TokenModel> make_word_level(Vocabulary vocabulary, std::string unknown);
std::shared_ptr<const TokenModel> make_unigram(ModelTables tables, std::optional<int32_t> unknown,
                                               bool byte_fallback, std::string_view where);
// Pieces with their scores, joined by them; characters that are no piece are the pieces of their
// bytes, or unknown.
std::shared_ptr<const TokenModel> make_scored_pieces(ModelTables tables,
                                                     std::optional<int32_t> unknown);
// `json` is the member "model" without its vocabulary and merges.
std::shared_ptr<const TokenModel> make_model(const Json& json, ModelTables tables,
                                             std::string_view where);

// "<0x0A>", as byte fallback writes a byte.
std::string byte_token(unsigned char byte);
// The byte that such a token stands for.
std::optional<unsigned char> byte_of_token(std::string_view token);

}  // namespace fovea
