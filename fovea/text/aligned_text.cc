#include "fovea/text/aligned_text.h"

#include <algorithm>

#include "fovea/text/unicode.h"

namespace fovea {

ByteSpan AlignedText::span_of_byte(size_t i) const {
  if (!spans_.empty()) return spans_[i];
  size_t begin = i;
  while (begin > 0 && is_continuation(text_[begin])) --begin;
  size_t end = i + 1;
  while (end < text_.size() && is_continuation(text_[end])) ++end;
  return {origin_ + static_cast<uint32_t>(begin), origin_ + static_cast<uint32_t>(end)};
}

ByteSpan AlignedText::source(size_t begin, size_t end) const {
  end = std::min(end, text_.size());
  if (begin >= end) {
    const auto at = origin_ + static_cast<uint32_t>(std::min(begin, text_.size()));
    return {at, at};
  }
  const ByteSpan first = span_of_byte(begin);
  const ByteSpan last = span_of_byte(end - 1);
  return {first.begin, std::max(first.begin, last.end)};
}

AlignedText AlignedText::slice(size_t begin, size_t end) const {
  const ByteSpan from = source(begin, end);
  AlignedText part(text_.substr(begin, end - begin), from.begin);
  if (!spans_.empty()) {
    part.spans_.assign(spans_.begin() + static_cast<ptrdiff_t>(begin),
                       spans_.begin() + static_cast<ptrdiff_t>(end));
  }
  return part;
}

void AlignedText::fill_spans() {
  spans_.reserve(text_.size());
  for (size_t offset = 0; offset < text_.size();) {
    const uint32_t bytes = character_at(text_, offset).bytes;
    const uint32_t begin = origin_ + static_cast<uint32_t>(offset);
    for (uint32_t i = 0; i < bytes; ++i) spans_.push_back({begin, begin + bytes});
    offset += bytes;
  }
}

void AlignedText::add(const AlignedText& other, size_t begin, size_t end) {
  materialise();
  text_.append(other.text_, begin, end - begin);
  if (!other.spans_.empty()) {
    spans_.insert(spans_.end(), other.spans_.begin() + static_cast<ptrdiff_t>(begin),
                  other.spans_.begin() + static_cast<ptrdiff_t>(end));
    return;
  }
  for (size_t i = begin; i < end; ++i) spans_.push_back(other.span_of_byte(i));
}

void AlignedText::transform(std::span<const CharacterChange> changes, size_t removed) {
  if (text_.empty()) return;
  transform_range(0, text_.size(), changes, removed);
}

void AlignedText::transform_range(size_t begin, size_t end,
                                  std::span<const CharacterChange> changes, size_t removed) {
  materialise();
  size_t at = begin;  // in the old text
  const auto pass = [&](size_t characters) {
    for (; characters > 0 && at < end; --characters) at += character_at(text_, at).bytes;
  };
  pass(removed);
  std::string text;
  std::vector<ByteSpan> spans;
  text.reserve(end - begin);
  spans.reserve(end - begin);
  for (const auto& [code, change] : changes) {
    ByteSpan from{origin_, origin_};
    if (change > 0) {
      if (at > 0) from = spans_[at - 1];
    } else if (!spans_.empty()) {
      from = spans_[std::min(at, spans_.size() - 1)];
    }
    if (change <= 0) pass(1 + static_cast<size_t>(-change));
    append_utf8(text, code);
    for (size_t i = utf8_size(code); i > 0; --i) spans.push_back(from);
  }
  if (begin == 0 && end == text_.size()) {
    text_ = std::move(text);
    spans_ = std::move(spans);
    return;
  }
  text_.replace(begin, end - begin, text);
  const auto first = spans_.begin() + static_cast<ptrdiff_t>(begin);
  const auto place = spans_.erase(first, first + static_cast<ptrdiff_t>(end - begin));
  spans_.insert(place, spans.begin(), spans.end());
}

void AlignedText::lowercase() {
  if (is_ascii(text_)) {
    for (char& c : text_) c = static_cast<char>(to_lower(static_cast<unsigned char>(c)));
    return;
  }
  rewrite(&lowered);
}

void AlignedText::prepend(std::string_view prefix) {
  if (text_.empty() || prefix.empty()) return;
  std::vector<CharacterChange> changes;
  for (const char32_t code : decode_utf8(prefix))
    changes.push_back({code, changes.empty() ? 0 : 1});
  const Character first = character_at(text_, 0);
  changes.push_back({first.code, 1});
  transform_range(0, first.bytes, changes);
}

void AlignedText::strip(bool left, bool right) {
  size_t begin = 0;
  size_t end = text_.size();
  while (left && begin < end) {
    const Character character = character_at(text_, begin);
    if (!is_white_space(character.code)) break;
    begin += character.bytes;
  }
  while (right && end > begin) {
    size_t last = end - 1;
    while (last > begin && is_continuation(text_[last])) --last;
    if (!is_white_space(character_at(text_, last).code)) break;
    end = last;
  }
  if (begin == 0 && end == text_.size()) return;
  materialise();
  text_ = text_.substr(begin, end - begin);
  spans_ = std::vector<ByteSpan>(spans_.begin() + static_cast<ptrdiff_t>(begin),
                                 spans_.begin() + static_cast<ptrdiff_t>(end));
}

void AlignedText::replace(std::span<const ByteSpan> ranges, std::string_view content) {
  if (ranges.empty()) return;
  materialise();
  std::string text;
  std::vector<ByteSpan> spans;
  text.reserve(text_.size());
  spans.reserve(text_.size());
  size_t last = 0;
  const auto keep_until = [&](size_t end) {
    text.append(text_, last, end - last);
    spans.insert(spans.end(), spans_.begin() + static_cast<ptrdiff_t>(last),
                 spans_.begin() + static_cast<ptrdiff_t>(end));
  };
  for (const ByteSpan& range : ranges) {
    keep_until(range.begin);
    text += content;
    const ByteSpan from = range.end > 0 ? spans_[range.end - 1] : ByteSpan{origin_, origin_};
    spans.insert(spans.end(), content.size(), from);
    last = range.end;
  }
  keep_until(text_.size());
  text_ = std::move(text);
  spans_ = std::move(spans);
}

}  // namespace fovea
