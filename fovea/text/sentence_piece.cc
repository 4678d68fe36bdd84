#include "fovea/text/sentence_piece.h"

#include <sentencepiece_processor.h>

#include <exception>
#include <unordered_set>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/utf8.h"
#include "fovea/text/sentence_piece_file.h"
#include "fovea/text/unicode.h"

namespace fovea {
namespace {

constexpr size_t kLongestSentence = size_t{1} << 26;  // the library takes some 30 bytes for each
constexpr std::string_view kSpaceSymbol = "▁";

}  // namespace

struct SentencePiece::Loaded {
  sentencepiece::SentencePieceProcessor processor;
  std::string where;
  std::vector<std::string> pieces;
  std::vector<bool> is_byte;
  int32_t unknown_id = 0;
  bool has_byte_fallback = false;
  bool marks_word_ends = false;

  void check(const sentencepiece::util::Status& status) const {
    if (status.ok()) return;
    fail(ErrorKind::kBadFile, "{}: SentencePiece refuses the model: {}", where,
         to_one_line(status.message()));
  }
};

SentencePiece::SentencePiece(std::unique_ptr<const Loaded> loaded) : loaded_(std::move(loaded)) {}
SentencePiece::~SentencePiece() = default;

std::shared_ptr<const SentencePiece> SentencePiece::from_bytes(std::string_view bytes,
                                                               std::string_view where) {
  const SentencePieceFile file = check_sentence_piece_file(bytes, where);
  auto loaded = std::make_unique<Loaded>();
  loaded->where = where;
  loaded->unknown_id = file.unknown_id;
  loaded->has_byte_fallback = file.has_byte_fallback;
  loaded->marks_word_ends = file.marks_word_ends;
  for (const auto& piece : file.pieces) {
    loaded->pieces.emplace_back(piece.text);
    loaded->is_byte.push_back(piece.type == PieceType::kByte);
  }
  try {
    loaded->check(loaded->processor.LoadFromSerializedProto(file.model));
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {  // the trie's builder throws
    fail(ErrorKind::kBadFile, "{}: SentencePiece refuses the model: {}", where,
         to_one_line(error.what()));
  }
  return std::shared_ptr<const SentencePiece>(new SentencePiece(std::move(loaded)));
}

std::shared_ptr<const SentencePiece> SentencePiece::open(const std::filesystem::path& path) {
  const auto file = MappedFile::open(path);
  return from_bytes(as_text(file->bytes()), path.string());
}

void SentencePiece::encode(std::string_view text,
                           const std::function<void(const Piece&)>& add) const {
  if (text.size() > kLongestSentence) {
    fail(ErrorKind::kInvalidArgument,
         "a text of {} bytes; SentencePiece takes at most {} at once: cut it into parts",
         text.size(), kLongestSentence);
  }
  sentencepiece::ImmutableSentencePieceText found;
  loaded_->check(loaded_->processor.Encode(text, found.mutable_proto()));
  const auto pieces = found.pieces();
  bool begins_next = false;
  for (size_t i = 0; i < pieces.size(); ++i) {
    const auto id = static_cast<int32_t>(pieces[i].id());
    const std::string& written = pieces[i].piece();
    // If a character is written as bytes, the library gives its span only to the last byte.
    size_t last = i;
    while (loaded_->is_byte[static_cast<size_t>(id)] && last + 1 < pieces.size() &&
           pieces[last].begin() == pieces[last].end()) {
      ++last;
    }
    const bool begins = loaded_->marks_word_ends ? begins_next : written.starts_with(kSpaceSymbol);
    add({id, written, {pieces[i].begin(), pieces[last].end()}, begins});
    begins_next = written.ends_with(kSpaceSymbol);
  }
}

std::string SentencePiece::decode(const std::vector<std::string>& pieces) const {
  std::string text;
  loaded_->check(loaded_->processor.Decode(pieces, &text));
  return text;
}

int32_t SentencePiece::size() const {
  return static_cast<int32_t>(loaded_->pieces.size());
}
const std::string& SentencePiece::piece(int32_t id) const {
  return loaded_->pieces[static_cast<size_t>(id)];
}
int32_t SentencePiece::unknown_id() const {
  return loaded_->unknown_id;
}
bool SentencePiece::has_byte_fallback() const {
  return loaded_->has_byte_fallback;
}

namespace {

class SentencePieceModel final : public TokenModel {
 public:
  SentencePieceModel(std::shared_ptr<const SentencePiece> pieces, Vocabulary vocabulary,
                     SentencePieceOptions options)
      : TokenModel(std::move(vocabulary)), pieces_(std::move(pieces)), options_(options) {
    for (int32_t id = 0; id < pieces_->size(); ++id) ids_.push_back(id_of(pieces_->piece(id)));
  }

  void tokenize(std::string_view text, std::vector<WordToken>& tokens) const override {
    uint32_t begin = 0;
    if (const size_t code = language_code_size(text); code > 0) {
      begin = static_cast<uint32_t>(code);
      tokens.push_back({id_of(text.substr(0, begin)), 0, begin, true});
    }
    pieces_->encode(text.substr(begin), [&](const SentencePiece::Piece& piece) {
      // The vocabulary may hold a token that the pieces do not know: it can be for two languages.
      const bool known = piece.id != pieces_->unknown_id();
      const int32_t id = known ? ids_[static_cast<size_t>(piece.id)] : id_of(piece.text);
      tokens.push_back({id, begin + piece.span.begin, begin + piece.span.end, piece.begins_word});
    });
  }
  bool has_byte_fallback() const override { return pieces_->has_byte_fallback(); }
  std::optional<int32_t> unknown_id() const override { return options_.unknown_id; }

 private:
  int32_t id_of(std::string_view piece) const {
    return vocabulary().find(piece).value_or(options_.unknown_id);
  }
  size_t language_code_size(std::string_view text) const {
    if (!options_.takes_language_codes || !text.starts_with(">>")) return 0;
    const size_t end = text.find("<<");
    return end == std::string_view::npos ? 0 : end + 2;
  }

  std::shared_ptr<const SentencePiece> pieces_;
  SentencePieceOptions options_;
  std::vector<int32_t> ids_;  // of the vocabulary, by the pieces' ids
};

class SentencePieceDecoder final : public Decoder {
 public:
  SentencePieceDecoder(std::shared_ptr<const SentencePiece> pieces,
                       const std::vector<std::string>& special, std::string after_special)
      : pieces_(std::move(pieces)),
        special_(special.begin(), special.end()),
        after_special_(std::move(after_special)) {}

  std::vector<std::string> apply(std::vector<std::string> tokens) const override {
    std::string text;
    std::vector<std::string> run;
    for (std::string& token : tokens) {
      if (!special_.contains(token)) {
        run.push_back(std::move(token));
        continue;
      }
      text.append(pieces_->decode(run)).append(token).append(after_special_);
      run.clear();
    }
    text += pieces_->decode(run);
    // Marks of pieces that only the vocabulary knows are still there.
    for (size_t at = text.find(kSpaceSymbol); at != std::string::npos;
         at = text.find(kSpaceSymbol, at)) {
      text.replace(at, kSpaceSymbol.size(), " ");
    }
    AlignedText result(std::move(text));
    result.strip(true, true);
    return {result.text()};
  }

 private:
  std::shared_ptr<const SentencePiece> pieces_;
  std::unordered_set<std::string> special_;
  std::string after_special_;
};

}  // namespace

std::shared_ptr<const TokenModel> make_sentence_piece_model(
    std::shared_ptr<const SentencePiece> pieces, Vocabulary vocabulary,
    SentencePieceOptions options) {
  return std::make_shared<SentencePieceModel>(std::move(pieces), std::move(vocabulary), options);
}

std::shared_ptr<const Decoder> make_sentence_piece_decoder(
    std::shared_ptr<const SentencePiece> pieces, const std::vector<std::string>& special,
    std::string after_special) {
  return std::make_shared<SentencePieceDecoder>(std::move(pieces), special,
                                                std::move(after_special));
}

}  // namespace fovea
