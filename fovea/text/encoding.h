// A text as tokens.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fovea/text/aligned_text.h"

namespace fovea {

// All lists have one item per token.
struct Encoding {
  std::vector<int32_t> ids;
  std::vector<std::string> tokens;  // as the vocabulary writes them
  std::vector<int32_t> type_ids;
  std::vector<bool> special;       // put there by the post-processor, not found in the text
  std::vector<ByteSpan> offsets;   // bytes of the UTF-8 source; {0, 0} for special ones
  std::vector<int32_t> words;      // counted through each sequence; -1 for special ones
  std::vector<int32_t> sequences;  // 0: the text, 1: the pair; -1 for special ones

  // Bytes of the input that were no UTF-8; each was read as U+FFFD.
  size_t invalid_bytes = 0;
  size_t first_invalid = 0;  // offset in the text, or in the pair if invalid_in_pair
  bool invalid_in_pair = false;

  size_t size() const { return ids.size(); }
  void reserve(size_t count);
  void add(int32_t id, std::string token, int32_t type_id, bool is_special, ByteSpan span,
           int32_t word, int32_t sequence);
  void append(Encoding other);
};

}  // namespace fovea
