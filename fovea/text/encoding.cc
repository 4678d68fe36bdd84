#include "fovea/text/encoding.h"

#include <iterator>
#include <utility>

namespace fovea {
namespace {

// The shorter list moves, so that putting one token before a long text is cheap.
template <typename T>
void move_behind(std::vector<T>& all, std::vector<T>& more) {
  const auto moved = [](std::vector<T>& list) {
    return std::pair(std::make_move_iterator(list.begin()), std::make_move_iterator(list.end()));
  };
  if (all.size() < more.size()) {
    const auto [first, last] = moved(all);
    more.insert(more.begin(), first, last);
    all = std::move(more);
  } else {
    const auto [first, last] = moved(more);
    all.insert(all.end(), first, last);
  }
}

}  // namespace

void Encoding::reserve(size_t count) {
  ids.reserve(count);
  tokens.reserve(count);
  type_ids.reserve(count);
  special.reserve(count);
  offsets.reserve(count);
  words.reserve(count);
  sequences.reserve(count);
}

void Encoding::add(int32_t id, std::string token, int32_t type_id, bool is_special, ByteSpan span,
                   int32_t word, int32_t sequence) {
  ids.push_back(id);
  tokens.push_back(std::move(token));
  type_ids.push_back(type_id);
  special.push_back(is_special);
  offsets.push_back(span);
  words.push_back(word);
  sequences.push_back(sequence);
}

void Encoding::append(Encoding other) {
  if (ids.empty() && invalid_bytes == 0) {
    *this = std::move(other);
    return;
  }
  move_behind(ids, other.ids);
  move_behind(tokens, other.tokens);
  move_behind(type_ids, other.type_ids);
  move_behind(special, other.special);
  move_behind(offsets, other.offsets);
  move_behind(words, other.words);
  move_behind(sequences, other.sequences);
  if (invalid_bytes == 0) {
    first_invalid = other.first_invalid;
    invalid_in_pair = other.invalid_in_pair;
  }
  invalid_bytes += other.invalid_bytes;
}

}  // namespace fovea
