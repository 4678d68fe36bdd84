#include "fovea/text/vocabulary.h"

#include <algorithm>
#include <array>
#include <bit>

#include "fovea/base/error.h"

namespace fovea {

void Vocabulary::grow(size_t slots) {
  std::vector<Slot> old(slots);
  old.swap(slots_);
  for (const Slot& slot : old) {
    if (slot.id < 0) continue;
    const std::string_view token(text_.data() + slot.offset, slot.size);
    slots_[slot_of(token, hash_text(token))] = slot;
  }
}

size_t Vocabulary::slot_of(std::string_view token, uint64_t hash) const {
  const size_t mask = slots_.size() - 1;
  const auto tag = static_cast<uint32_t>(hash >> 32U);
  for (size_t at = static_cast<size_t>(hash) & mask;; at = (at + 1) & mask) {
    const Slot& slot = slots_[at];
    if (slot.id < 0) return at;
    if (slot.tag == tag && slot.size == token.size() &&
        std::string_view(text_.data() + slot.offset, slot.size) == token) {
      return at;
    }
  }
}

void Vocabulary::add(std::string_view token, int64_t id) {
  add(token, id, hash_text(token));
}

// Slots miss the cache; those of a whole block are under way together.
void Vocabulary::add_all(std::span<const VocabularyEntry> entries) {
  constexpr size_t kBlock = 32;
  size_t bytes = text_.size();
  int64_t largest = -1;
  for (const VocabularyEntry& entry : entries) {
    bytes += entry.token.size();
    largest = std::max(largest, entry.id);
  }
  text_.reserve(bytes);
  if (largest < static_cast<int64_t>(entries.size()) * 2) {
    by_id_.reserve(static_cast<size_t>(largest + 1));
  }
  grow(std::bit_ceil((count_ + entries.size()) * 2 + 16));
  std::array<uint64_t, kBlock> hashes{};
  for (size_t first = 0; first < entries.size(); first += kBlock) {
    const auto block = entries.subspan(first, std::min(kBlock, entries.size() - first));
    for (size_t i = 0; i < block.size(); ++i) {
      hashes[i] = hash_text(block[i].token);
      prefetch(hashes[i]);
    }
    for (size_t i = 0; i < block.size(); ++i) add(block[i].token, block[i].id, hashes[i]);
  }
}

void Vocabulary::add(std::string_view token, int64_t id, uint64_t hash) {
  if (id < 0 || id > kLargestTokenId) {
    fail(ErrorKind::kUnsupported, "a token of the vocabulary has the id {}; ids go from 0 to {}",
         id, kLargestTokenId);
  }
  if (text_.size() + token.size() > 0xFFFFFFFFU) {
    fail(ErrorKind::kUnsupported, "the vocabulary has more than 4 GiB of text");
  }
  if (count_ * 2 >= slots_.size()) grow(std::max<size_t>(64, slots_.size() * 2));
  Slot& slot = slots_[slot_of(token, hash)];
  if (slot.id < 0) {
    slot.offset = static_cast<uint32_t>(text_.size());
    slot.size = static_cast<uint32_t>(token.size());
    slot.tag = static_cast<uint32_t>(hash >> 32U);
    text_ += token;
    ++count_;
  } else if (slot.id != id) {
    one_to_one_ = false;
  }
  slot.id = static_cast<int32_t>(id);
  const auto index = static_cast<size_t>(id);
  if (by_id_.size() <= index) by_id_.resize(index + 1);
  by_id_[index] = {slot.offset, slot.size, true};
}

std::optional<int32_t> Vocabulary::find(std::string_view token, uint64_t hash) const {
  if (slots_.empty()) return std::nullopt;
  const Slot& slot = slots_[slot_of(token, hash)];
  if (slot.id < 0) return std::nullopt;
  return slot.id;
}

bool Vocabulary::has_id(int32_t id) const {
  return id >= 0 && static_cast<size_t>(id) < by_id_.size() && by_id_[static_cast<size_t>(id)].used;
}

std::string_view Vocabulary::token(int32_t id) const {
  if (!has_id(id)) return {};
  const Place& place = by_id_[static_cast<size_t>(id)];
  return {text_.data() + place.offset, place.size};
}

}  // namespace fovea
