// SentencePiece: whole texts to pieces and back. Normalizes, marks spaces (▁) and cuts by itself,
// so that neither normalizer nor pre-tokenizer stands before it.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/text/aligned_text.h"
#include "fovea/text/decoder.h"
#include "fovea/text/token_model.h"

namespace fovea {

// One loaded file. Const members may be called from any thread.
class SentencePiece {
 public:
  // Throws Error{kNotFound} or Error{kBadFile}.
  static std::shared_ptr<const SentencePiece> open(const std::filesystem::path& path);
  static std::shared_ptr<const SentencePiece> from_bytes(std::string_view bytes,
                                                         std::string_view where);
  ~SentencePiece();

  struct Piece {
    int32_t id;
    std::string_view text;  // as the model writes it; the normalized text if unknown
    ByteSpan span;          // in the text given
    bool begins_word;
  };
  // Calls `add` for each piece in order. `text` must be valid UTF-8. The pieces of one character
  // that the model writes as bytes all have its span. Throws Error{kInvalidArgument} above 64 MiB.
  void encode(std::string_view text, const std::function<void(const Piece&)>& add) const;
  // Pieces that the model does not know stand for themselves.
  std::string decode(const std::vector<std::string>& pieces) const;

  int32_t size() const;
  const std::string& piece(int32_t id) const;  // 0 <= id < size()
  int32_t unknown_id() const;
  bool has_byte_fallback() const;

 private:
  struct Loaded;
  explicit SentencePiece(std::unique_ptr<const Loaded> loaded);
  std::unique_ptr<const Loaded> loaded_;
};

struct SentencePieceOptions {
  int32_t unknown_id = 0;             // in the vocabulary
  bool takes_language_codes = false;  // Marian: a text may begin with >>fra<<, which is one token
};

// A model whose ids are those of `vocabulary`, found by the pieces' texts: the two need not agree.
std::shared_ptr<const TokenModel> make_sentence_piece_model(
    std::shared_ptr<const SentencePiece> pieces, Vocabulary vocabulary,
    SentencePieceOptions options);

// `special` tokens are kept apart from the model, each with `after_special` behind it; white space
// around the result is dropped.
std::shared_ptr<const Decoder> make_sentence_piece_decoder(
    std::shared_ptr<const SentencePiece> pieces, const std::vector<std::string>& special,
    std::string after_special);

}  // namespace fovea
