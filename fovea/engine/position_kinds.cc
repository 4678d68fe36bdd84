#include "fovea/engine/position_kinds.h"

#include <algorithm>

#include "fovea/base/utf8.h"
#include "fovea/text/unicode.h"

namespace fovea {
namespace {

bool is_punctuation(std::string_view text) {
  bool any = false;
  for (const char32_t code : decode_utf8(to_valid_utf8(text))) {
    if (is_white_space(code)) continue;
    if (!is_bert_punctuation(code)) return false;
    any = true;
  }
  return any;
}

// Where the padding at the end of a text begins. Some models pad with the token that ends a text,
// which is then the first of its kind.
size_t padding_begin(const Axis& axis, const std::vector<int64_t>& ids, int64_t padding_id) {
  size_t begin = ids.size();
  while (begin > 0 && ids[begin - 1] == padding_id) --begin;
  const bool has_end = begin > 0 && axis.positions[begin - 1].special;
  return std::min(has_end ? begin : begin + 1, ids.size());
}

}  // namespace

PositionKinds text_kinds(const Axis& axis, const std::vector<int64_t>& ids, int64_t padding_id) {
  PositionKinds kinds{.ids = ids, .in_line = true};
  for (const Position& position : axis.positions) {
    const auto begin = static_cast<size_t>(position.source_begin);
    const auto end = static_cast<size_t>(position.source_end);
    const bool from_source = end > begin && end <= axis.source.size();
    const std::string_view text =
        from_source ? std::string_view(axis.source).substr(begin, end - begin) : position.text;
    kinds.special.push_back(position.special);
    kinds.delimiter.push_back(position.special || is_punctuation(text));
  }
  if (padding_id >= 0) {
    kinds.padding.assign(ids.size(), 0);
    const size_t begin = padding_begin(axis, ids, padding_id);
    std::fill(kinds.padding.begin() + static_cast<std::ptrdiff_t>(begin), kinds.padding.end(), 1);
  }
  return kinds;
}

PositionKinds picture_kinds(const Axis& axis) {
  PositionKinds kinds{.picture = PictureAxis::of(axis)};
  const auto front = static_cast<size_t>(kinds.picture->specials);
  for (size_t i = 0; i < axis.positions.size(); ++i) {
    kinds.special.push_back(i < front);
    kinds.padding.push_back(i >= front && axis.positions[i].special);
  }
  if (front > 0) kinds.delimiter = kinds.special;
  return kinds;
}

}  // namespace fovea
