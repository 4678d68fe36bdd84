// The first two bytes say how much of the rest is a SentencePiece file; what follows is text.
#include <string>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/text/sentence_piece.h"
#include "fuzz/fuzz_touch.h"

namespace {

void check(const fovea::SentencePiece& pieces, std::string_view text) {
  std::vector<std::string> written;
  uint32_t before = 0;
  pieces.encode(text, [&](const fovea::SentencePiece::Piece& piece) {
    fovea::require(piece.id >= 0 && piece.id < pieces.size());
    fovea::require(piece.span.begin <= piece.span.end && piece.span.end <= text.size());
    fovea::require(piece.span.begin >= before);
    fovea::require(fovea::to_valid_utf8(piece.text) == piece.text);
    before = piece.span.begin;
    written.emplace_back(piece.text);
  });
  const std::string decoded = pieces.decode(written);
  fovea::require(fovea::to_valid_utf8(decoded) == decoded);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const size_t model_size = std::min<size_t>(size - 2, data[0] + size_t{256} * data[1]);
  try {
    const auto pieces = fovea::SentencePiece::from_bytes(all.substr(2, model_size), "input");
    check(*pieces, fovea::to_valid_utf8(all.substr(2 + model_size)));
    check(*pieces, "The cat\xC2\xA0 sat \xEF\xAC\x81 e\xCC\x81 \xE2\x98\x83");
  } catch (const fovea::Error&) {
  }
  return 0;
}
