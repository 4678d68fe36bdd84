// Unigram: of all ways to cut a word into pieces, the one whose pieces are most likely together.
#include <algorithm>
#include <array>
#include <limits>

#include "fovea/base/error.h"
#include "fovea/text/token_model.h"
#include "fovea/text/unicode.h"

namespace fovea {
namespace {

constexpr double kUnknownPenalty = 10;         // SentencePiece's
constexpr size_t kLongestUnigramPiece = 2048;  // bytes; SentencePiece stops at a few dozen

struct Node {
  double score = 0;
  uint32_t begin = ~uint32_t{0};  // where the best piece that ends here begins
  int32_t id = 0;
};

class Unigram final : public TokenModel {
 public:
  Unigram(ModelTables tables, std::optional<int32_t> unknown, bool byte_fallback,
          std::string_view where)
      : TokenModel(std::move(tables.vocabulary)),
        scores_(std::move(tables.scores)),
        unknown_(unknown),
        byte_fallback_(byte_fallback),
        longest_(size_t{1} << 16U, 0) {
    double least = std::numeric_limits<double>::infinity();
    for (size_t id = 0; id < scores_.size(); ++id) {
      const std::string_view token = vocabulary().token(static_cast<int32_t>(id));
      if (token.size() > kLongestUnigramPiece) {
        fail(ErrorKind::kUnsupported, "{}: token {} has {} bytes; at most {} are taken", where, id,
             token.size(), kLongestUnigramPiece);
      }
      least = std::min(least, scores_[id]);
      if (token.empty()) continue;
      auto& longest = longest_[start_of(token)];
      longest = std::max(longest, static_cast<uint16_t>(token.size()));
    }
    unknown_score_ = least - kUnknownPenalty;
    for (size_t byte = 0; byte < byte_ids_.size() && byte_fallback_; ++byte) {
      const auto id = vocabulary().find(byte_token(static_cast<unsigned char>(byte)));
      byte_ids_[byte] = id ? *id : -1;
    }
  }

  void tokenize(std::string_view word, std::vector<WordToken>& tokens) const override {
    if (word.empty()) return;
    const std::vector<Node> nodes = best_paths(word);
    std::vector<ByteSpanOf> pieces;
    for (uint32_t end = static_cast<uint32_t>(word.size()); end > 0;) {
      const Node& node = nodes[end];
      const bool is_unknown = unknown_ && node.id == *unknown_;
      if (is_unknown && !pieces.empty() && pieces.back().unknown) {
        pieces.back().begin = node.begin;  // unknown pieces side by side become one
      } else {
        pieces.push_back({node.begin, end, is_unknown});
      }
      end = node.begin;
    }
    std::reverse(pieces.begin(), pieces.end());
    for (const auto& piece : pieces) add(word, piece.begin, piece.end, tokens);
  }
  bool has_byte_fallback() const override { return byte_fallback_; }
  std::optional<int32_t> unknown_id() const override { return unknown_; }

 private:
  struct ByteSpanOf {
    uint32_t begin;
    uint32_t end;
    bool unknown;
  };

  static size_t start_of(std::string_view text) {
    const auto byte = [&](size_t i) -> size_t {
      return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
    };
    return byte(0) << 8U | byte(1);
  }
  // The most bytes that a piece beginning like this text has.
  size_t longest_at(std::string_view text) const {
    const size_t start = start_of(text);
    return std::min<size_t>(text.size(), std::max(longest_[start], longest_[start & 0xFF00U]));
  }

  std::vector<Node> best_paths(std::string_view word) const {
    std::vector<Node> nodes(word.size() + 1);
    const auto offer = [&](size_t begin, size_t end, double score, int32_t id) {
      Node& node = nodes[end];
      const double total = nodes[begin].score + score;
      if (node.begin == ~uint32_t{0} || total > node.score) {
        node = {total, static_cast<uint32_t>(begin), id};
      }
    };
    for (size_t begin = 0; begin < word.size();) {
      const size_t first = character_at(word, begin).bytes;
      const std::string_view rest = word.substr(begin);
      const size_t longest = longest_at(rest);
      bool has_single = false;
      for (size_t size = 1; size <= longest; ++size) {
        if (size < rest.size() && is_continuation(rest[size])) continue;
        const auto id = vocabulary().find(rest.substr(0, size));
        if (!id) continue;
        offer(begin, begin + size, scores_[static_cast<size_t>(*id)], *id);
        has_single = has_single || size == first;
      }
      if (!has_single) {
        if (!unknown_) {
          fail(ErrorKind::kBadFile,
               "a character is not in the vocabulary, which names no unknown token (unk_id)");
        }
        offer(begin, begin + first, unknown_score_, *unknown_);
      }
      begin += first;
    }
    return nodes;
  }

  void add(std::string_view word, uint32_t begin, uint32_t end,
           std::vector<WordToken>& tokens) const {
    const std::string_view piece = word.substr(begin, end - begin);
    if (const auto id = vocabulary().find(piece)) {
      tokens.push_back({*id, begin, end});
      return;
    }
    const auto id_of = [&](char byte) { return byte_ids_[static_cast<unsigned char>(byte)]; };
    if (byte_fallback_ &&
        std::all_of(piece.begin(), piece.end(), [&](char byte) { return id_of(byte) >= 0; })) {
      for (const char byte : piece) tokens.push_back({id_of(byte), begin, end});
      return;
    }
    tokens.push_back({unknown_.value_or(0), begin, end});
  }

  std::vector<double> scores_;
  std::optional<int32_t> unknown_;
  bool byte_fallback_;
  double unknown_score_ = 0;
  std::array<int32_t, 256> byte_ids_{};  // -1: not in the vocabulary
  std::vector<uint16_t> longest_;        // by the first two bytes
};

}  // namespace

std::shared_ptr<const TokenModel> make_unigram(ModelTables tables, std::optional<int32_t> unknown,
                                               bool byte_fallback, std::string_view where) {
  return std::make_shared<Unigram>(std::move(tables), unknown, byte_fallback, where);
}

}  // namespace fovea
