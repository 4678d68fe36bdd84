#include "fovea/text/vocabulary.h"

#include <bit>

#include "fovea/base/error.h"

namespace fovea {
namespace {

// FNV's low bits are weak; the table uses these.
size_t spread(uint64_t hash) {
  return static_cast<size_t>((hash ^ hash >> 32U) * 0x9E3779B97F4A7C15U >> 20U);
}

}  // namespace

void Vocabulary::reserve(size_t tokens, size_t bytes) {
  text_.reserve(bytes);
  by_id_.reserve(tokens);
  grow(std::bit_ceil(tokens * 2 + 16));
}

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
  for (size_t at = spread(hash) & mask;; at = (at + 1) & mask) {
    const Slot& slot = slots_[at];
    if (slot.id < 0) return at;
    if (slot.hash == static_cast<uint32_t>(hash) && slot.size == token.size() &&
        std::string_view(text_.data() + slot.offset, slot.size) == token) {
      return at;
    }
  }
}

void Vocabulary::prefetch(uint64_t hash) const {
  if (!slots_.empty()) __builtin_prefetch(&slots_[spread(hash) & (slots_.size() - 1)]);
}

void Vocabulary::add(std::string_view token, int64_t id) {
  if (id < 0 || id > kLargestTokenId) {
    fail(ErrorKind::kUnsupported, "a token of the vocabulary has the id {}; ids go from 0 to {}",
         id, kLargestTokenId);
  }
  if (text_.size() + token.size() > 0xFFFFFFFFU) {
    fail(ErrorKind::kUnsupported, "the vocabulary has more than 4 GiB of text");
  }
  if (count_ * 2 >= slots_.size()) grow(std::max<size_t>(64, slots_.size() * 2));
  const uint64_t hash = hash_text(token);
  Slot& slot = slots_[slot_of(token, hash)];
  if (slot.id < 0) {
    slot.offset = static_cast<uint32_t>(text_.size());
    slot.size = static_cast<uint32_t>(token.size());
    slot.hash = static_cast<uint32_t>(hash);
    text_ += token;
    ++count_;
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
