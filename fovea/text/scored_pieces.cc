// SentencePiece's joining of pieces as GGUF files keep it: characters are joined to the neighbour
// with which they make the piece of the highest score, the leftmost first where scores are equal.
#include <array>
#include <queue>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/text/token_model.h"

namespace fovea {
namespace {

class ScoredPieces final : public TokenModel {
 public:
  ScoredPieces(ModelTables tables, std::optional<int32_t> unknown)
      : TokenModel(std::move(tables.vocabulary)),
        scores_(tables.scores.begin(), tables.scores.end()),
        unknown_(unknown) {
    for (size_t byte = 0; byte < byte_ids_.size(); ++byte) {
      const auto id = vocabulary().find(byte_token(static_cast<unsigned char>(byte)));
      byte_ids_[byte] = id ? *id : -1;
      has_bytes_ = has_bytes_ || id;
    }
  }

  void tokenize(std::string_view word, std::vector<WordToken>& tokens) const override {
    std::vector<Symbol> symbols = characters_of(word);
    join(word, symbols);
    for (const Symbol& symbol : symbols) {
      if (symbol.size > 0) add_piece(word, symbol, tokens);
    }
  }
  bool has_byte_fallback() const override { return has_bytes_; }
  std::optional<int32_t> unknown_id() const override { return unknown_; }

 private:
  struct Symbol {
    uint32_t begin;
    uint32_t size;  // 0: joined to the one before
    int32_t before;
    int32_t next;  // -1: the last
  };
  // Two neighbours that together are a piece.
  struct Candidate {
    float score;
    int32_t left;
    uint32_t size;  // of both when they were found
    bool operator<(const Candidate& other) const {
      return score != other.score ? score < other.score : left > other.left;
    }
  };

  static std::vector<Symbol> characters_of(std::string_view word) {
    std::vector<Symbol> symbols;
    for (size_t at = 0; at < word.size();) {
      const uint32_t bytes = character_at(word, at).bytes;
      const auto index = static_cast<int32_t>(symbols.size());
      if (index > 0) symbols.back().next = index;
      symbols.push_back({static_cast<uint32_t>(at), bytes, index - 1, -1});
      at += bytes;
    }
    return symbols;
  }

  void join(std::string_view word, std::vector<Symbol>& symbols) const {
    std::priority_queue<Candidate> queue;
    const auto look = [&](int32_t left) {
      if (left < 0) return;
      const Symbol& symbol = symbols[static_cast<size_t>(left)];
      if (symbol.next < 0) return;
      const uint32_t size = symbol.size + symbols[static_cast<size_t>(symbol.next)].size;
      const auto id = vocabulary().find(word.substr(symbol.begin, size));
      if (id) queue.push({scores_[static_cast<size_t>(*id)], left, size});
    };
    for (size_t i = 0; i < symbols.size(); ++i) look(static_cast<int32_t>(i));
    while (!queue.empty()) {
      const Candidate best = queue.top();
      queue.pop();
      Symbol& left = symbols[static_cast<size_t>(best.left)];
      if (left.size == 0 || left.next < 0) continue;
      Symbol& right = symbols[static_cast<size_t>(left.next)];
      if (left.size + right.size != best.size) continue;  // out of date
      left.size = best.size;
      left.next = right.next;
      right.size = 0;
      if (left.next >= 0) symbols[static_cast<size_t>(left.next)].before = best.left;
      look(left.before);
      look(best.left);
    }
  }

  void add_piece(std::string_view word, const Symbol& symbol,
                 std::vector<WordToken>& tokens) const {
    constexpr std::string_view kSpaceMark = "\u2581";
    const std::string_view text = word.substr(symbol.begin, symbol.size);
    const uint32_t end = symbol.begin + symbol.size;
    if (const auto id = vocabulary().find(text)) {
      tokens.push_back({*id, symbol.begin, end, text.starts_with(kSpaceMark)});
      return;
    }
    for (uint32_t at = symbol.begin; at < end; ++at) {
      const int32_t id = byte_ids_[static_cast<unsigned char>(word[at])];
      if (id < 0) {
        if (!unknown_) {
          fail(ErrorKind::kBadFile,
               "'{}' is not in the vocabulary, and neither are its bytes nor an unknown token",
               text);
        }
        tokens.push_back({*unknown_, symbol.begin, end});
        return;
      }
      tokens.push_back({id, at, at + 1});
    }
  }

  std::vector<float> scores_;  // by id
  std::optional<int32_t> unknown_;
  std::array<int32_t, 256> byte_ids_{};  // -1: not in the vocabulary
  bool has_bytes_ = false;
};

}  // namespace

std::shared_ptr<const TokenModel> make_scored_pieces(ModelTables tables,
                                                     std::optional<int32_t> unknown) {
  return std::make_shared<ScoredPieces>(std::move(tables), unknown);
}

}  // namespace fovea
