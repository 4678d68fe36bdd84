// What a token stands for and how it is shown: spaces and line breaks visible, bytes of a character
// named, special tokens marked.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fovea/text/aligned_text.h"

namespace fovea {

enum class TokenKind {
  kText,
  kContinuation,  // the rest of a word (BERT's ##)
  kSpace,         // white space only
  kBytes,         // a part of one character
  kSpecial,
  kUnknown,
};

// A token of the vocabulary.
struct TokenInfo {
  int32_t id = 0;
  std::string bytes;    // exactly what it stands for; a special token's is its name
  std::string display;  // never empty, one line
  TokenKind kind = TokenKind::kText;
};

// A token in a text.
struct ShownToken {
  TokenInfo info;
  ByteSpan span;
  int32_t word = -1;  // the group it belongs to; -1 for special ones
  int32_t sequence = -1;
  std::string glyph;  // kBytes: the whole character, where the neighbours complete it
  int part = 0;       // kBytes: which of `parts`
  int parts = 0;
};

// `·the`, `‿ing`, `␣×3`, `↵`, `⟨F0 9F⟩`.
std::string display_of(std::string_view bytes, TokenKind kind);
// Whether the bytes are a part of a character, or of several, and no whole text.
bool is_partial_utf8(std::string_view bytes);
// Fills glyph, part and parts of neighbours that together make up characters.
void complete_glyphs(std::vector<ShownToken>& tokens);

}  // namespace fovea
