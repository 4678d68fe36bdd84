#include "fovea/engine/position_kinds.h"

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

}  // namespace

PositionKinds text_kinds(const Axis& axis, const std::vector<int64_t>& ids) {
  PositionKinds kinds{.ids = ids};
  for (const Position& position : axis.positions) {
    const auto begin = static_cast<size_t>(position.source_begin);
    const auto end = static_cast<size_t>(position.source_end);
    const bool from_source = end > begin && end <= axis.source.size();
    const std::string_view text =
        from_source ? std::string_view(axis.source).substr(begin, end - begin) : position.text;
    kinds.special.push_back(position.special);
    kinds.delimiter.push_back(position.special || is_punctuation(text));
  }
  return kinds;
}

PositionKinds picture_kinds(const Axis& axis) {
  PositionKinds kinds{.picture = PictureAxis::of(axis)};
  for (const Position& position : axis.positions) {
    kinds.special.push_back(position.special);
    kinds.delimiter.push_back(position.special);
  }
  return kinds;
}

}  // namespace fovea
