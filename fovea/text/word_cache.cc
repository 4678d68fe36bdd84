#include "fovea/text/word_cache.h"

#include <algorithm>

namespace fovea {
namespace {

constexpr size_t kLongestKept = 64;
constexpr size_t kMostKept = 100'000;
constexpr size_t kFirstSlots = 256;

}  // namespace

WordCache::Slot& WordCache::slot_of(std::string_view word, uint64_t hash) {
  const size_t mask = slots_.size() - 1;
  for (size_t at = static_cast<size_t>(hash) & mask;; at = (at + 1) & mask) {
    Slot& slot = slots_[at];
    if (slot.size == 0) return slot;
    if (slot.hash == hash && std::string_view(texts_).substr(slot.text, slot.size) == word) {
      return slot;
    }
  }
}

void WordCache::grow() {
  std::vector<Slot> old(std::max(kFirstSlots, slots_.size() * 2));
  old.swap(slots_);
  const size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.size == 0) continue;
    size_t at = static_cast<size_t>(slot.hash) & mask;
    while (slots_[at].size > 0) at = (at + 1) & mask;
    slots_[at] = slot;
  }
}

std::span<const WordToken> WordCache::fresh(std::string_view word) {
  last_.clear();
  model_.tokenize(word, last_);
  return last_;
}

std::span<const WordToken> WordCache::tokens(std::string_view word) {
  if (word.empty() || word.size() > kLongestKept) return fresh(word);
  if (used_ * 2 >= slots_.size()) grow();
  const uint64_t hash = hash_text(word);
  Slot& slot = slot_of(word, hash);
  if (slot.size == 0) {
    if (used_ >= kMostKept) return fresh(word);
    const size_t first = tokens_.size();
    model_.tokenize(word, tokens_);
    slot = {hash, static_cast<uint32_t>(texts_.size()), static_cast<uint32_t>(word.size()),
            static_cast<uint32_t>(first), static_cast<uint32_t>(tokens_.size() - first)};
    texts_ += word;
    ++used_;
  }
  return std::span(tokens_).subspan(slot.first, slot.count);
}

}  // namespace fovea
