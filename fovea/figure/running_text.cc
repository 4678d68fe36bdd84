#include "fovea/figure/running_text.h"

#include <algorithm>
#include <cstdint>

#include "fovea/base/utf8.h"

namespace fovea {
namespace {

constexpr std::string_view kSpaces = " \t\n\r\v\f";

bool has_usable_source(const Axis& axis) {
  if (axis.source.empty() || to_characters(axis.source) != axis.source) return false;
  const auto size = static_cast<int64_t>(axis.source.size());
  return std::ranges::all_of(axis.positions, [&](const Position& position) {
    return position.source_begin >= 0 && position.source_begin <= position.source_end &&
           position.source_end <= size;
  });
}

// Keeps the number of bytes, but leaves nothing that pango would take for a command.
std::string plain(std::string text) {
  for (char& letter : text) {
    if (static_cast<unsigned char>(letter) < 0x20 && letter != '\n') letter = ' ';
    if (letter == 0x7f) letter = ' ';
  }
  return text;
}

bool inside_character(const std::string& text, size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80;
}

// Copies the source and notes where each of its bytes went.
class Writer {
 public:
  explicit Writer(const std::string& source) : source_(source), moved_(source.size() + 1) {}

  void copy_until(size_t end) {
    while (inside_character(source_, end)) ++end;
    for (; copied_ < end; ++copied_) {
      moved_[copied_] = text_.size();
      text_ += source_[copied_];
    }
  }
  TextPlace chip() {
    const size_t begin = text_.size();
    text_ += kChipMark;
    return {.begin = begin, .end = text_.size(), .chip = true};
  }
  TextPlace place(size_t begin, size_t end) {
    copy_until(end);
    while (begin < end && kSpaces.find(source_[begin]) != std::string_view::npos) ++begin;
    while (end > begin && kSpaces.find(source_[end - 1]) != std::string_view::npos) --end;
    if (begin == end) return chip();
    while (inside_character(source_, begin)) --begin;
    while (inside_character(source_, end)) ++end;
    return {.begin = moved_[begin], .end = moved_[end - 1] + 1};
  }
  std::string finish() {
    copy_until(source_.size());
    return std::move(text_);
  }

 private:
  const std::string source_;
  std::vector<size_t> moved_;
  std::string text_;
  size_t copied_ = 0;
};

void share_places(std::vector<TextPlace>& places) {
  for (size_t first = 0; first < places.size();) {
    size_t end = first + 1;
    while (end < places.size() && !places[end].chip && places[end].begin == places[first].begin &&
           places[end].end == places[first].end) {
      ++end;
    }
    for (size_t i = first; i < end; ++i) {
      places[i].part = static_cast<int>(i - first);
      places[i].parts = static_cast<int>(end - first);
    }
    first = end;
  }
}

RunningText joined_names(const Axis& axis) {
  RunningText result;
  for (const Position& position : axis.positions) {
    if (!result.text.empty()) result.text += ' ';
    const size_t begin = result.text.size();
    result.text += position.special ? std::string(kChipMark) : to_one_line(position.text);
    result.places.push_back({.begin = begin, .end = result.text.size(), .chip = position.special});
  }
  return result;
}

}  // namespace

RunningText running_text(const Axis& axis) {
  if (!has_usable_source(axis)) return joined_names(axis);
  Writer writer(plain(axis.source));
  RunningText result;
  for (const Position& position : axis.positions) {
    const auto begin = static_cast<size_t>(position.source_begin);
    const auto end = static_cast<size_t>(position.source_end);
    result.places.push_back(position.special || begin == end ? writer.chip()
                                                             : writer.place(begin, end));
  }
  result.text = writer.finish();
  share_places(result.places);
  return result;
}

}  // namespace fovea
