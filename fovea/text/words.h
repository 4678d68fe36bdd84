// The words of a text on their way through pre-tokenizers. A word is a piece of a text, never a
// copy of it.
#pragma once

#include <cstdint>
#include <deque>
#include <string_view>
#include <utility>
#include <vector>

#include "fovea/text/aligned_text.h"

namespace fovea {

struct Word {
  const AlignedText* text;
  uint32_t begin;
  uint32_t end;
  uint32_t origin;  // where in the source it begins

  std::string_view view() const {
    return std::string_view(text->text()).substr(begin, end - begin);
  }
  // The piece [first, last) of this word.
  Word piece(size_t first, size_t last) const {
    const auto at = static_cast<uint32_t>(begin + first);
    const auto stop = static_cast<uint32_t>(begin + last);
    return {text, at, stop, text->source(at, stop).begin};
  }
  ByteSpan source(size_t first, size_t last) const {
    return text->source(begin + first, begin + last);
  }
};

class Words {
 public:
  Words(const Words&) = delete;  // words point to the texts
  Words& operator=(const Words&) = delete;
  explicit Words(AlignedText text) {
    const AlignedText& kept = texts_.emplace_back(std::move(text));
    if (kept.empty()) return;
    list_.push_back({&kept, 0, static_cast<uint32_t>(kept.text().size()), kept.origin()});
  }

  const std::vector<Word>& list() const { return list_; }
  size_t bytes() const {
    size_t sum = 0;
    for (const Word& word : list_) sum += word.end - word.begin;
    return sum;
  }
  // An empty text that lives as long as the words, for what is rewritten.
  AlignedText& add_text() { return texts_.emplace_back(""); }
  // Each word gives way to those that `cut(word, next)` adds to `next`.
  template <typename Cut>
  void cut_each(const Cut& cut) {
    std::vector<Word> next;
    next.reserve(list_.size());
    for (const Word& word : list_) cut(word, next);
    list_ = std::move(next);
  }

 private:
  std::deque<AlignedText> texts_;
  std::vector<Word> list_;
};

}  // namespace fovea
