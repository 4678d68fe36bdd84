// Text on its way through normalizers, which remembers for each of its bytes the bytes of the
// source it came from.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

  // Puts another part of the same source behind this one.
  void join(AlignedText part);

  // Rewrites all of it; the first `removed` characters vanish.
  void transform(std::span<const CharacterChange> changes, size_t removed = 0);
  // Rewrites text()[begin, end).
  void transform_range(size_t begin, size_t end, std::span<const CharacterChange> changes,
                       size_t removed = 0);
  // Rewrites without changing where bytes come from; the sizes must agree.
  void set_same_size(std::string text) { text_ = std::move(text); }

  void filter(const std::function<bool(char32_t)>& keep);
  void map(const std::function<char32_t(char32_t)>& mapping);
  void lowercase();
  void prepend(std::string_view prefix);
  void append(std::string_view suffix);
  void strip(bool left, bool right);
  // Each of the ordered, disjoint ranges of text() becomes `content`.
  void replace(std::span<const ByteSpan> ranges, std::string_view content);

 private:
  ByteSpan span_of_byte(size_t i) const;
  void materialise();

  std::string text_;
  std::vector<ByteSpan> spans_;  // empty: each character comes from itself at origin_
  uint32_t origin_;
};

}  // namespace fovea
