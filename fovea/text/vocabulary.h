// Tokens and their ids. All texts lie in one block, found by an open hash table.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fovea {

inline constexpr int32_t kLargestTokenId = (1 << 24) - 1;

// Eight bytes at a time; the last ones overlap. For tables of this process only.
inline uint64_t hash_text(std::string_view text) {
  constexpr uint64_t kFactor = 0x9E3779B97F4A7C15U;
  const char* bytes = text.data();
  size_t left = text.size();
  uint64_t hash = left * kFactor;
  uint64_t chunk = 0;
  const auto mix = [&] {
    hash = (hash ^ chunk) * kFactor;
    hash ^= hash >> 32U;
  };
  for (; left > 8; left -= 8, bytes += 8) {
    std::memcpy(&chunk, bytes, 8);
    mix();
  }
  if (left >= 4) {
    uint32_t first = 0;
    uint32_t last = 0;
    std::memcpy(&first, bytes, 4);
    std::memcpy(&last, bytes + left - 4, 4);
    chunk = uint64_t{last} << 32U | first;
  } else if (left > 0) {
    const auto byte = [&](size_t i) { return uint64_t{static_cast<unsigned char>(bytes[i])}; };
    chunk = byte(0) | byte(left / 2) << 8U | byte(left - 1) << 16U;
  }
  mix();
  // Once more, for the last bytes of the text to reach the low bits, which choose the slot.
  hash *= kFactor;
  return hash ^ hash >> 32U;
}

struct VocabularyEntry {
  std::string_view token;
  int64_t id;
};

class Vocabulary {
 public:
  // A token that is there gets the new id. Throws Error{kUnsupported} for an id out of range.
  void add(std::string_view token, int64_t id);
  // As add() for each in turn, but quicker for many.
  void add_all(std::span<const VocabularyEntry> entries);

  std::optional<int32_t> find(std::string_view token) const {
    return find(token, hash_text(token));
  }
  std::optional<int32_t> find(std::string_view token, uint64_t hash) const;
  // Hint that find() with this hash comes soon.
  void prefetch(uint64_t hash) const {
    if (!slots_.empty())
      __builtin_prefetch(&slots_[static_cast<size_t>(hash) & (slots_.size() - 1)]);
  }
  // Empty if there is no such token.
  std::string_view token(int32_t id) const;
  bool has_id(int32_t id) const;
  size_t size() const { return count_; }  // of distinct tokens
  // Whether no token got a second id, so that find(token(id)) is always that id.
  bool is_one_to_one() const { return one_to_one_; }
  int32_t end_id() const { return static_cast<int32_t>(by_id_.size()); }

 private:
  // All that a look-up needs lies in one cache line with its neighbours.
  struct Slot {
    uint32_t offset = 0;
    uint32_t size = 0;
    uint32_t tag = 0;  // the part of the hash that does not choose the slot
    int32_t id = -1;   // -1: free
  };
  struct Place {
    uint32_t offset = 0;
    uint32_t size = 0;
    bool used = false;
  };
  size_t slot_of(std::string_view token, uint64_t hash) const;
  void add(std::string_view token, int64_t id, uint64_t hash);
  void grow(size_t slots);

  std::string text_;
  std::vector<Slot> slots_;
  std::vector<Place> by_id_;
  size_t count_ = 0;
  bool one_to_one_ = true;
};

}  // namespace fovea
