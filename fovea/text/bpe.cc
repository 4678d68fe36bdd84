// Byte-pair encoding: characters are joined, the pair that was learnt first before the others.
#include <algorithm>
#include <array>
#include <bit>
#include <queue>
#include <span>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/text/token_model.h"
#include "fovea/text/unicode.h"

namespace fovea {
namespace {

struct Merge {
  uint64_t pair = ~uint64_t{0};
  uint32_t rank = ~uint32_t{0};
  int32_t id = -1;
};

uint64_t pair_of(int32_t left, int32_t right) {
  return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32U | static_cast<uint32_t>(right);
}

class MergeTable {
 public:
  void reserve(size_t merges) { slots_.assign(std::bit_ceil(merges * 2 + 2), Merge{}); }
  // A pair that comes twice keeps the later rank, as a map would.
  void add(const Merge& merge) { slots_[slot_of(merge.pair)] = merge; }
  void prefetch(uint64_t pair) const { __builtin_prefetch(&slots_[first_slot(pair)], 1); }
  const Merge* find(int32_t left, int32_t right) const {
    const Merge& merge = slots_[slot_of(pair_of(left, right))];
    return merge.id < 0 ? nullptr : &merge;
  }

 private:
  size_t first_slot(uint64_t pair) const {
    return static_cast<size_t>(pair * 0x9E3779B97F4A7C15U >> 24U) & (slots_.size() - 1);
  }
  size_t slot_of(uint64_t pair) const {
    const size_t mask = slots_.size() - 1;
    size_t slot = first_slot(pair);
    while (slots_[slot].id >= 0 && slots_[slot].pair != pair) slot = (slot + 1) & mask;
    return slot;
  }
  std::vector<Merge> slots_;
};

struct Symbol {
  int32_t id;
  int32_t next;  // -1: the last
  int32_t before;
  uint32_t size;  // 0: joined to the one before
};

constexpr size_t kShortWord = 48;  // up to here looking at all pairs is faster than a queue

class Bpe final : public TokenModel {
 public:
  Bpe(ModelTables tables, const BpeOptions& options, std::string_view where)
      : TokenModel(std::move(tables.vocabulary)), options_(options) {
    if (!options_.unknown.empty()) unknown_ = vocabulary().find(options_.unknown);
    merges_.reserve(tables.merges.size());
    read_merges(tables, where);
    for (size_t code = 0; code < ascii_ids_.size(); ++code) {
      const auto id = vocabulary().find(std::string(1, static_cast<char>(code)));
      ascii_ids_[code] = id ? *id : -1;
    }
    if (options_.byte_fallback) {
      for (size_t byte = 0; byte < 256; ++byte) {
        const auto id = vocabulary().find(byte_token(static_cast<unsigned char>(byte)));
        byte_ids_[byte] = id ? *id : -1;
      }
    }
  }

  void tokenize(std::string_view word, std::vector<WordToken>& tokens) const override {
    if (word.empty()) return;
    if (options_.ignore_merges) {
      if (const auto id = vocabulary().find(word)) {
        tokens.push_back({*id, 0, static_cast<uint32_t>(word.size())});
        return;
      }
    }
    std::vector<Symbol> symbols = begin_word(word);
    if (symbols.size() <= kShortWord) {
      join_short(symbols);
    } else {
      join_long(symbols);
    }
    if (tokens.empty()) tokens.reserve(symbols.size());
    uint32_t at = 0;
    for (const Symbol& symbol : symbols) {
      if (symbol.size == 0) continue;
      tokens.push_back({symbol.id, at, at + symbol.size});
      at += symbol.size;
    }
  }
  std::string_view continuing_prefix() const override { return options_.continuing_prefix; }
  std::string_view word_suffix() const override { return options_.word_suffix; }
  bool has_byte_fallback() const override { return options_.byte_fallback; }
  std::optional<int32_t> unknown_id() const override { return unknown_; }

 private:
  // Look-ups miss the cache; those of a whole block of merges are under way together.
  void read_merges(const ModelTables& tables, std::string_view where) {
    constexpr size_t kBlock = 32;
    std::array<uint64_t, kBlock> left_hashes{};
    std::array<uint64_t, kBlock> right_hashes{};
    std::array<Merge, kBlock> found{};
    int32_t id = -1;
    const std::span merges(tables.merges);
    for (size_t first = 0; first < merges.size(); first += kBlock) {
      const auto block = merges.subspan(first, std::min(kBlock, merges.size() - first));
      for (size_t i = 0; i < block.size(); ++i) {
        left_hashes[i] = hash_text(block[i].first);
        right_hashes[i] = hash_text(block[i].second);
        vocabulary().prefetch(left_hashes[i]);
        vocabulary().prefetch(right_hashes[i]);
      }
      for (size_t i = 0; i < block.size(); ++i) {
        const auto& [left, right] = block[i];
        const auto left_id = vocabulary().find(left, left_hashes[i]);
        const auto right_id = vocabulary().find(right, right_hashes[i]);
        id = find_joined(left, right, id);
        if (!left_id || !right_id || id < 0) {
          fail_merge(left, right, !left_id ? left : !right_id ? right : joined(left, right), where);
        }
        found[i] = {pair_of(*left_id, *right_id), static_cast<uint32_t>(first + i), id};
        merges_.prefetch(found[i].pair);
      }
      for (size_t i = 0; i < block.size(); ++i) merges_.add(found[i]);
    }
  }

  std::string joined(std::string_view left, std::string_view right) const {
    const size_t skip = std::min(options_.continuing_prefix.size(), right.size());
    return std::string(left).append(right.substr(skip));
  }

  // -1 if the vocabulary lacks it. Most files list merges by the ids they make, so that it is
  // `before` or the next.
  int32_t find_joined(std::string_view left, std::string_view right, int32_t before) const {
    const std::string_view rest =
        right.substr(std::min(options_.continuing_prefix.size(), right.size()));
    if (vocabulary().is_one_to_one()) {
      for (const int32_t id : {before, before + 1}) {
        const std::string_view token = vocabulary().token(id);
        if (token.size() == left.size() + rest.size() && token.starts_with(left) &&
            token.ends_with(rest) && !token.empty()) {
          return id;
        }
      }
    }
    const auto id = vocabulary().find(joined(left, right));
    return id ? *id : -1;
  }

  [[noreturn]] static void fail_merge(std::string_view left, std::string_view right,
                                      std::string_view missing, std::string_view where) {
    fail(ErrorKind::kBadFile,
         "{}: the merge '{}' + '{}' needs '{}', which is not in the vocabulary", where,
         shorten(left, 40), shorten(right, 40), shorten(missing, 80));
  }

  std::vector<Symbol> begin_word(std::string_view word) const {
    std::vector<Symbol> symbols;
    symbols.reserve(word.size());
    const auto add = [&](int32_t id, uint32_t size) {
      const auto index = static_cast<int32_t>(symbols.size());
      if (index > 0) symbols.back().next = index;
      symbols.push_back({id, -1, index - 1, size});
    };
    uint32_t unknown_size = 0;  // of unknown characters not yet added
    const bool plain = options_.continuing_prefix.empty() && options_.word_suffix.empty();
    std::string changed;
    for (size_t offset = 0; offset < word.size();) {
      const uint32_t bytes = character_at(word, offset).bytes;
      std::string_view text = word.substr(offset, bytes);
      if (!plain) {
        changed.assign(offset > 0 ? options_.continuing_prefix : "").append(text);
        if (offset + bytes == word.size()) changed += options_.word_suffix;
        text = changed;
      }
      offset += bytes;
      if (const auto id = find_symbol(text)) {
        if (unknown_size > 0) add(*unknown_, unknown_size);
        unknown_size = 0;
        add(*id, bytes);
      } else if (all_bytes_known(text)) {
        for (const char byte : text) add(byte_ids_[static_cast<unsigned char>(byte)], 1);
      } else if (!options_.unknown.empty()) {
        if (!unknown_) {
          fail(ErrorKind::kBadFile,
               "a character is not in the vocabulary and neither is its unknown token '{}'",
               options_.unknown);
        }
        if (unknown_size > 0 && !options_.fuse_unknown) {
          add(*unknown_, unknown_size);
          unknown_size = 0;
        }
        unknown_size += bytes;
      }
    }
    if (unknown_size > 0) add(*unknown_, unknown_size);
    return symbols;
  }

  std::optional<int32_t> find_symbol(std::string_view text) const {
    if (text.size() > 1 || static_cast<unsigned char>(text[0]) >= 0x80) {
      return vocabulary().find(text);
    }
    const int32_t id = ascii_ids_[static_cast<unsigned char>(text[0])];
    return id < 0 ? std::nullopt : std::optional(id);
  }

  bool all_bytes_known(std::string_view text) const {
    if (!options_.byte_fallback) return false;
    for (const char byte : text) {
      if (byte_ids_[static_cast<unsigned char>(byte)] < 0) return false;
    }
    return true;
  }

  // Joins symbols[left] with the one after it.
  static void join(std::vector<Symbol>& symbols, size_t left, int32_t id) {
    Symbol& symbol = symbols[left];
    Symbol& right = symbols[static_cast<size_t>(symbol.next)];
    symbol.id = id;
    symbol.size += right.size;
    symbol.next = right.next;
    right.size = 0;
    if (symbol.next >= 0) {
      symbols[static_cast<size_t>(symbol.next)].before = static_cast<int32_t>(left);
    }
  }

  void join_short(std::vector<Symbol>& symbols) const {
    // found[i]: how symbols[i] joins with the next, if it does.
    const Merge* found[kShortWord] = {};
    const auto look = [&](size_t i) {
      const int32_t next = symbols[i].next;
      found[i] =
          next < 0 ? nullptr : merges_.find(symbols[i].id, symbols[static_cast<size_t>(next)].id);
    };
    for (size_t i = 0; i < symbols.size(); ++i) look(i);
    for (;;) {
      size_t best = kShortWord;
      uint32_t rank = ~uint32_t{0};
      for (size_t i = 0; i < symbols.size(); ++i) {
        if (found[i] != nullptr && found[i]->rank < rank) {
          rank = found[i]->rank;
          best = i;
        }
      }
      if (best == kShortWord) return;
      found[symbols[best].next] = nullptr;
      join(symbols, best, found[best]->id);
      look(best);
      if (symbols[best].before >= 0) look(static_cast<size_t>(symbols[best].before));
    }
  }

  void join_long(std::vector<Symbol>& symbols) const {
    using Candidate = std::pair<uint32_t, int32_t>;  // rank, left symbol
    const auto find = [&](int32_t left) -> const Merge* {
      const Symbol& symbol = symbols[static_cast<size_t>(left)];
      if (symbol.size == 0 || symbol.next < 0) return nullptr;
      return merges_.find(symbol.id, symbols[static_cast<size_t>(symbol.next)].id);
    };
    std::vector<Candidate> first;
    first.reserve(symbols.size());
    for (int32_t i = 0; static_cast<size_t>(i) < symbols.size(); ++i) {
      if (const Merge* merge = find(i)) first.emplace_back(merge->rank, i);
    }
    std::priority_queue queue(std::greater<>(), std::move(first));
    const auto look = [&](int32_t left) {
      if (const Merge* merge = find(left)) queue.emplace(merge->rank, left);
    };
    while (!queue.empty()) {
      const auto [rank, left] = queue.top();
      queue.pop();
      const Merge* merge = find(left);
      if (merge == nullptr || merge->rank != rank) continue;  // out of date
      join(symbols, static_cast<size_t>(left), merge->id);
      look(left);
      if (symbols[static_cast<size_t>(left)].before >= 0) {
        look(symbols[static_cast<size_t>(left)].before);
      }
    }
  }

  BpeOptions options_;
  std::optional<int32_t> unknown_;
  MergeTable merges_;
  std::array<int32_t, 128> ascii_ids_{};  // -1: not in the vocabulary
  std::array<int32_t, 256> byte_ids_{};   // -1: not in the vocabulary
};

}  // namespace

std::shared_ptr<const TokenModel> make_bpe(ModelTables tables, const BpeOptions& options,
                                           std::string_view where) {
  return std::make_shared<Bpe>(std::move(tables), options, where);
}

}  // namespace fovea
