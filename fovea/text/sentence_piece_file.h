// A SentencePiece file (.spm, .model), checked before the library sees it: the library trusts the
// tables within.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fovea {

enum class PieceType { kNormal = 1, kUnknown, kControl, kUserDefined, kUnused, kByte };

struct SentencePieceFile {
  struct Piece {
    std::string_view text;  // points into the file
    PieceType type;
  };
  std::vector<Piece> pieces;  // by id
  int32_t unknown_id = 0;
  bool has_byte_fallback = false;
  bool marks_word_ends = false;  // ▁ stands behind a word, not before it
  std::string model;             // what the library is to load: the file without its self-test
};

// Throws Error{kBadFile}. `bytes` must live as long as the result.
SentencePieceFile check_sentence_piece_file(std::string_view bytes, std::string_view where);

}  // namespace fovea
