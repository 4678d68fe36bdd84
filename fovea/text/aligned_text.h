// Text on its way through normalizers. It remembers, for each of its bytes, which bytes of the
// source they came from.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/text/unicode.h"

namespace fovea {

struct ByteSpan {
  uint32_t begin = 0;
  uint32_t end = 0;
  bool operator==(const ByteSpan&) const = default;
};

// One character of a rewritten text. `change` is 0 if it replaces the next old character, positive
// if it is new (it then comes from where the one before it came from), and -n if it replaces the
// next old character and the n after that vanish.
struct CharacterChange {
  char32_t code;
  int32_t change;
};

// The replacement of one character.
struct Replacement {
  uint32_t count = 0;
  std::array<char32_t, 3> codes{};
};

// Lower case of one character.
inline Replacement lowered(char32_t code) {
  return {code == 0x130 ? 2U : 1U, {to_lower(code), 0x307}};
}

class AlignedText {
 public:
  // Text that lies unchanged at `origin` of the source. Must be valid UTF-8.
  explicit AlignedText(std::string text, uint32_t origin = 0)
      : text_(std::move(text)), origin_(origin) {}
  // Text of which byte i comes from spans[i].
  AlignedText(std::string text, std::vector<ByteSpan> spans, uint32_t origin)
      : text_(std::move(text)), spans_(std::move(spans)), origin_(origin) {}

  const std::string& text() const { return text_; }
  bool empty() const { return text_.empty(); }
  uint32_t origin() const { return origin_; }  // where in the source this part begins

  // The bytes of the source that text()[begin, end) came from.
  ByteSpan source(size_t begin, size_t end) const;
  AlignedText slice(size_t begin, size_t end) const;
  // slice() of all of it, without a copy.
  AlignedText whole_slice() && {
    origin_ = source(0, text_.size()).begin;
    return std::move(*this);
  }

  // Puts `text` at the end, all of which comes from one place of the source.
  void add(std::string_view text, ByteSpan from) {
    materialise();
    text_ += text;
    for (size_t i = 0; i < text.size(); ++i) spans_.push_back(from);
  }
  // Puts a piece of another text of the same source at the end.
  void add(const AlignedText& other, size_t begin, size_t end);
  void reserve(size_t bytes) {
    text_.reserve(bytes);
    spans_.reserve(bytes);
  }

  // Rewrites all of it; the first `removed` characters vanish.
  void transform(std::span<const CharacterChange> changes, size_t removed = 0);
  // Rewrites text()[begin, end).
  void transform_range(size_t begin, size_t end, std::span<const CharacterChange> changes,
                       size_t removed = 0);
  // Rewrites without changing where bytes come from; the sizes must agree.
  void set_same_size(std::string text) { text_ = std::move(text); }

  // Each character becomes `replace(code)`, a Replacement that comes from where it came from.
  template <typename Replace>
  void rewrite(const Replace& replace);
  template <typename Keep>
  void filter(const Keep& keep) {
    rewrite([&](char32_t code) { return Replacement{keep(code) ? 1U : 0U, {code}}; });
  }
  template <typename Mapping>
  void map(const Mapping& mapping) {
    rewrite([&](char32_t code) { return Replacement{1, {mapping(code)}}; });
  }
  void lowercase();
  void prepend(std::string_view prefix);
  void strip(bool left, bool right);
  // Each of the ordered, disjoint ranges of text() becomes `content`.
  void replace(std::span<const ByteSpan> ranges, std::string_view content);

 private:
  ByteSpan span_of_byte(size_t i) const;
  void materialise() {
    if (spans_.empty() && !text_.empty()) fill_spans();
  }
  void fill_spans();

  std::string text_;
  std::vector<ByteSpan> spans_;  // empty: each character comes from itself at origin_
  uint32_t origin_;
};

template <typename Replace>
void AlignedText::rewrite(const Replace& replace) {
  const auto stays = [](char32_t code, const Replacement& made) {
    return made.count == 1 && made.codes[0] == code;
  };
  size_t offset = 0;
  while (offset < text_.size()) {
    const Character character = character_at(text_, offset);
    if (!stays(character.code, replace(character.code))) break;
    offset += character.bytes;
  }
  if (offset == text_.size()) return;
  materialise();
  std::string text;
  std::vector<ByteSpan> spans;
  text.reserve(text_.size());
  spans.reserve(text_.size());
  text.append(text_, 0, offset);
  spans.assign(spans_.begin(), spans_.begin() + static_cast<ptrdiff_t>(offset));
  while (offset < text_.size()) {
    const Character character = character_at(text_, offset);
    const Replacement made = replace(character.code);
    for (uint32_t i = 0; i < made.count; ++i) {
      append_utf8(text, made.codes[i]);
      for (size_t size = utf8_size(made.codes[i]); size > 0; --size)
        spans.push_back(spans_[offset]);
    }
    offset += character.bytes;
  }
  text_ = std::move(text);
  spans_ = std::move(spans);
}

}  // namespace fovea
