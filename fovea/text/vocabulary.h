// Tokens and their ids. All texts lie in one block, found by an open hash table.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fovea {

inline constexpr int32_t kLargestTokenId = (1 << 24) - 1;

// FNV-1a, byte by byte, so that the hash of a longer prefix follows from that of a shorter one.
inline constexpr uint64_t kHashSeed = 0xCBF29CE484222325U;
inline uint64_t extend_hash(uint64_t hash, char byte) {
  return (hash ^ static_cast<unsigned char>(byte)) * 0x100000001B3U;
}
inline uint64_t hash_text(std::string_view text) {
  uint64_t hash = kHashSeed;
  for (const char byte : text) hash = extend_hash(hash, byte);
  return hash;
}

class Vocabulary {
 public:
  void reserve(size_t tokens, size_t bytes);
  // A token that is there gets the new id. Throws Error{kUnsupported} for an id out of range.
  void add(std::string_view token, int64_t id);

  std::optional<int32_t> find(std::string_view token) const {
    return find(token, hash_text(token));
  }
  std::optional<int32_t> find(std::string_view token, uint64_t hash) const;
  // Hint that find() with this hash comes soon.
  void prefetch(uint64_t hash) const;
  // Empty if there is no such token.
  std::string_view token(int32_t id) const;
  bool has_id(int32_t id) const;
  size_t size() const { return count_; }  // of distinct tokens
  int32_t end_id() const { return static_cast<int32_t>(by_id_.size()); }

 private:
  // All that a look-up needs lies in one cache line with its neighbours.
  struct Slot {
    uint32_t offset = 0;
    uint32_t size = 0;
    uint32_t hash = 0;
    int32_t id = -1;  // -1: free
  };
  struct Place {
    uint32_t offset = 0;
    uint32_t size = 0;
    bool used = false;
  };
  size_t slot_of(std::string_view token, uint64_t hash) const;
  void grow(size_t slots);

  std::string text_;
  std::vector<Slot> slots_;
  std::vector<Place> by_id_;
  size_t count_ = 0;
};

}  // namespace fovea
