// Hugging Face tokenizers: text to tokens and back, with the same ids and places as the
// `tokenizers` library. Truncation and padding that a file asks for are not applied.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/base/json.h"
#include "fovea/text/encoding.h"
#include "fovea/text/gguf_vocabulary.h"
#include "fovea/text/token_display.h"

namespace fovea {

// Copies share everything. Const members may be called from any thread.
class Tokenizer {
 public:
  // Each throws Error{kNotFound}, Error{kBadFile} or, for parts that are not known,
  // Error{kUnsupported}.
  static Tokenizer from_file(const std::filesystem::path& path);
  static Tokenizer from_json(std::string_view text, std::string_view source);
  // BERT's vocab.txt; `config` is tokenizer_config.json or null.
  static Tokenizer from_vocab_txt(const std::filesystem::path& path, const Json& config = Json());
  // ESM's, which reads proteins: every entry is a token wherever it stands, and between them spaces
  // do not count.
  static Tokenizer from_esm_vocab(const std::filesystem::path& path, const Json& config = Json());
  // vocab.json and merges.txt of GPT-2, RoBERTa, BART, Whisper and OPT.
  static Tokenizer from_vocab_and_merges(const std::filesystem::path& vocab,
                                         const std::filesystem::path& merges,
                                         const Json& config = Json());
  static Tokenizer from_gguf(const GgufVocabulary& gguf, std::string_view source);

  // Invalid UTF-8 is replaced and reported in the result. Throws Error{kInvalidArgument} for texts
  // of 1 GiB and more.
  Encoding encode(std::string_view text, bool add_special = true) const;
  Encoding encode_pair(std::string_view text, std::string_view pair, bool add_special = true) const;
  // Ids that do not exist are passed over.
  std::string decode(std::span<const int32_t> ids, bool skip_special = true) const;

  int32_t size() const;  // one more than the largest id
  std::optional<int32_t> find(std::string_view token) const;
  std::string token(int32_t id) const;  // as the vocabulary writes it; empty if there is none
  bool is_special(int32_t id) const;
  // The token of everything that the vocabulary does not hold.
  std::optional<int32_t> unknown_id() const;
  TokenInfo info(int32_t id) const;
  std::vector<ShownToken> show(const Encoding& encoding) const;

  // Tokens by their role in tokenizer_config.json, such as "eos_token" and "mask_token".
  std::optional<int32_t> role(std::string_view name) const;
  // Takes roles, and added tokens that tokenizer.json lacks, from tokenizer_config.json.
  Tokenizer with_config(const Json& config, std::string_view source) const;

  // Codes of the languages whose token the tokenizer can put beside a text, such as "fr_XX", "fra"
  // and "fr"; empty for most. Of Marian's models, the language to translate into.
  std::vector<std::string> languages() const;
  // The one that is put there now; empty: none.
  std::string language() const;
  // The id of a language's token. Throws Error{kInvalidArgument} for a code that is not known, and
  // Error{kUnsupported} if there are no languages.
  int32_t language_id(std::string_view code) const;
  // The same tokenizer for texts of another language. Throws as language_id does.
  Tokenizer with_language(std::string_view code) const;

  struct Parts;
  const Parts& parts() const { return *parts_; }  // for fovea/text itself

 private:
  explicit Tokenizer(std::shared_ptr<const Parts> parts) : parts_(std::move(parts)) {}
  friend Tokenizer make_tokenizer(Parts parts);
  Encoding encode_one(std::string_view text, int32_t sequence) const;
  std::shared_ptr<const Parts> parts_;
};

// The tokenizer of a folder: tokenizer.json, or SentencePiece files (Marian, T5, mBART, NLLB,
// M2M100), or vocab.txt, or vocab.json and merges.txt, each with tokenizer_config.json where there
// is one. Throws Error{kNotFound} if it holds none of them.
Tokenizer open_tokenizer(const std::filesystem::path& folder);
// The tokenizer of the texts that a translation model writes. If one serves both sides, it is
// open_tokenizer()'s.
Tokenizer open_target_tokenizer(const std::filesystem::path& folder);

}  // namespace fovea
