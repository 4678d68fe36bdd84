#include "fovea/text/sentence_piece_file.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "fovea/base/error.h"
#include "fovea/text/unicode.h"
#include "fovea/text/vocabulary.h"

namespace fovea {
namespace {

constexpr size_t kLargestFile = size_t{1} << 28;
constexpr size_t kLongestPiece = 2048;  // bytes; trained pieces have a few dozen

enum class WireType { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

struct WireField {
  uint64_t number = 0;
  WireType type = WireType::kVarint;
  uint64_t value = 0;       // of numbers
  std::string_view bytes;   // of texts and messages
  std::string_view source;  // all of the field
};

// The fields of one protobuf message in order. Groups are refused; nobody writes them.
class WireReader {
 public:
  WireReader(std::string_view message, std::string_view where) : all_(message), where_(where) {}

  bool next(WireField& field) {
    const size_t begin = at_;
    if (begin == all_.size()) return false;
    const uint64_t tag = varint();
    field = {.number = tag >> 3U, .type = static_cast<WireType>(tag & 7U)};
    if (field.number == 0 || field.number >= uint64_t{1} << 29U) fail_here();
    switch (field.type) {
      case WireType::kVarint:
        field.value = varint();
        break;
      case WireType::kFixed64:
        field.value = fixed(8);
        break;
      case WireType::kFixed32:
        field.value = fixed(4);
        break;
      case WireType::kBytes:
        field.bytes = take(varint());
        break;
      default:
        fail_here();
    }
    field.source = all_.substr(begin, at_ - begin);
    return true;
  }

 private:
  [[noreturn]] void fail_here() const {
    fail(ErrorKind::kBadFile,
         "{}: not a SentencePiece model, or one that was cut short (at byte {} of a part of {}); "
         "download it again",
         where_, at_, all_.size());
  }
  std::string_view take(uint64_t size) {
    if (size > all_.size() - at_) fail_here();
    const std::string_view taken = all_.substr(at_, static_cast<size_t>(size));
    at_ += taken.size();
    return taken;
  }
  uint64_t fixed(size_t size) {
    uint64_t value = 0;
    std::memcpy(&value, take(size).data(), size);
    return value;
  }
  uint64_t varint() {
    uint64_t value = 0;
    for (uint32_t shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1)[0]);
      value |= uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) return value;
    }
    fail_here();
  }

  std::string_view all_;
  std::string_view where_;
  size_t at_ = 0;
};

SentencePieceFile::Piece read_piece(std::string_view message, size_t id, std::string_view where) {
  SentencePieceFile::Piece piece{{}, PieceType::kNormal};
  WireReader reader(message, where);
  for (WireField field; reader.next(field);) {
    if (field.number == 1 && field.type == WireType::kBytes) {
      piece.text = field.bytes;
    } else if (field.number == 2 && field.type == WireType::kFixed32) {
      const auto bits = static_cast<uint32_t>(field.value);
      float score = 0;
      std::memcpy(&score, &bits, sizeof score);
      if (!std::isfinite(score)) {
        fail(ErrorKind::kBadFile, "{}: the score of piece {} is no number", where, id);
      }
    } else if (field.number == 3 && field.type == WireType::kVarint) {
      if (field.value < 1 || field.value > 6) {
        fail(ErrorKind::kBadFile, "{}: piece {} has the type {}; types go from 1 to 6", where, id,
             field.value);
      }
      piece.type = static_cast<PieceType>(field.value);
    }
  }
  const bool plain = piece.text.find('\0') == std::string_view::npos && is_valid_utf8(piece.text);
  if (piece.text.empty() || piece.text.size() > kLongestPiece || !plain) {
    fail(ErrorKind::kBadFile, "{}: piece {} is no UTF-8 text of 1 to {} bytes", where, id,
         kLongestPiece);
  }
  return piece;
}

// What the library finds at one place of a text goes into arrays of these sizes.
constexpr uint32_t kMostRules = 32;      // of the character map
constexpr size_t kMostUserDefined = 64;  // pieces

// A double-array trie (Darts): a unit has a label, perhaps a value, and a base, from which the
// library goes to any of 256 units without looking.
class TrieCheck {
 public:
  TrieCheck(std::string_view bytes, std::string_view texts)
      : units_(bytes.size() / 4), states_(units_.size()), texts_(texts) {
    std::memcpy(units_.data(), bytes.data(), units_.size() * 4);
    for (uint32_t i = 0; i < units_.size(); ++i) {
      if (has_parent(i)) ++states_[parent_base(i)].end;
    }
    uint32_t count = 0;
    for (State& state : states_) {
      const uint32_t children = state.end;
      state.next = state.end = count;
      count += children;
    }
    children_.resize(count);
    for (uint32_t i = 0; i < units_.size(); ++i) {
      if (has_parent(i)) children_[states_[parent_base(i)].end++] = i;
    }
  }

  // The problem with the trie, or nothing.
  std::string_view problem() {
    std::vector<uint32_t> path{base(0)};
    if (!is_base(path[0])) return "leads out of its table";
    while (!path.empty()) {
      State& state = states_[path.back()];
      state.open = true;
      if (state.next == state.end) {
        if (state.values > kMostRules) return "has too many rules for one text";
        state.done = true;
        path.pop_back();
        continue;
      }
      const uint32_t unit = children_[state.next];
      const uint32_t below = base(unit);
      if (!is_base(below)) return "leads out of its table";
      const bool has_value = (units_[unit] >> 8U & 1U) != 0;
      if (has_value && !is_text(units_[below] & 0x7FFFFFFFU)) return "points beyond its texts";
      const State& child = states_[below];
      if (child.done) {
        state.values = std::max(state.values, child.values + (has_value ? 1U : 0U));
        ++state.next;
      } else if (child.open) {
        return "goes round in circles";
      } else {
        path.push_back(below);  // and then look at the unit again
      }
    }
    return {};
  }

 private:
  // For a base: where its units begin in children_, and how far they were followed.
  struct State {
    uint32_t next = 0;
    uint32_t end = 0;
    uint32_t values = 0;  // the most on one way down
    bool open = false;
    bool done = false;
  };

  bool has_parent(uint32_t i) const {  // or else it is a value
    return units_[i] >> 31U == 0 && parent_base(i) < units_.size();
  }
  uint32_t base(uint32_t i) const { return i ^ (units_[i] >> 10U << ((units_[i] & 0x200U) >> 6U)); }
  bool is_base(uint32_t base) const { return (base | 0xFFU) < units_.size(); }
  uint32_t parent_base(uint32_t i) const { return i ^ (units_[i] & 0xFFU); }
  bool is_text(uint32_t at) const { return at < texts_.size() && !is_continuation(texts_[at]); }

  std::vector<uint32_t> units_;
  std::vector<State> states_;  // by base
  std::vector<uint32_t> children_;
  std::string_view texts_;
};

// A size, a trie, and zero-terminated replacements that its values point to.
void check_character_map(std::string_view map, std::string_view where) {
  if (map.empty()) return;
  const auto refuse = [&](std::string_view what) {
    fail(ErrorKind::kBadFile, "{}: the character map {}; download the file again", where, what);
  };
  uint32_t trie_bytes = 0;
  if (map.size() > 4) std::memcpy(&trie_bytes, map.data(), 4);
  if (trie_bytes == 0 || trie_bytes % 4 != 0 || trie_bytes >= map.size() - 4) {
    refuse("is cut short");
  }
  const std::string_view texts = map.substr(4 + size_t{trie_bytes});
  if (!texts.ends_with('\0') || !is_valid_utf8(texts)) refuse("holds broken text");
  const std::string_view problem = TrieCheck(map.substr(4, trie_bytes), texts).problem();
  if (!problem.empty()) refuse(problem);
}

// The library looks for all of these that begin at one place.
void check_user_defined(const std::vector<SentencePieceFile::Piece>& pieces,
                        std::string_view where) {
  std::vector<std::string_view> texts;
  for (const auto& piece : pieces) {
    if (piece.type == PieceType::kUserDefined) texts.push_back(piece.text);
  }
  std::sort(texts.begin(), texts.end());
  std::vector<std::string_view> within;  // each begins with those before it
  for (const std::string_view text : texts) {
    while (!within.empty() && !text.starts_with(within.back())) within.pop_back();
    within.push_back(text);
    if (within.size() <= kMostUserDefined) continue;
    fail(ErrorKind::kBadFile, "{}: {} user-defined pieces begin with one another; at most {} may",
         where, within.size(), kMostUserDefined);
  }
}

void check_normalizer(std::string_view message, std::string_view where) {
  WireReader reader(message, where);
  for (WireField field; reader.next(field);) {
    if (field.number == 2 && field.type == WireType::kBytes) {
      check_character_map(field.bytes, where);
    }
  }
}

void read_trainer(std::string_view message, SentencePieceFile& file, std::string_view where) {
  WireReader reader(message, where);
  for (WireField field; reader.next(field);) {
    const bool is_number = field.type == WireType::kVarint;
    if (field.number == 24 && is_number) file.marks_word_ends = field.value != 0;
    if (field.number == 35 && is_number) file.has_byte_fallback = field.value != 0;
    // 44: how unknown text is written; 45 to 48: the names of unk, bos, eos and pad.
    if (field.number >= 44 && field.number <= 48 && field.type == WireType::kBytes &&
        !is_valid_utf8(field.bytes)) {
      fail(ErrorKind::kBadFile, "{}: the names of its special pieces are not valid UTF-8", where);
    }
  }
}

}  // namespace

SentencePieceFile check_sentence_piece_file(std::string_view bytes, std::string_view where) {
  if (bytes.size() > kLargestFile) {
    fail(ErrorKind::kBadFile, "{}: has {} bytes; a SentencePiece model has at most {}", where,
         bytes.size(), kLargestFile);
  }
  SentencePieceFile file;
  file.model.reserve(bytes.size());
  size_t unknown = 0;
  bool has_normalizer = false;
  WireReader reader(bytes, where);
  for (WireField field; reader.next(field);) {
    if (field.number == 4) continue;
    file.model += field.source;
    if (field.type != WireType::kBytes) continue;
    if (field.number == 1) {
      file.pieces.push_back(read_piece(field.bytes, file.pieces.size(), where));
      if (file.pieces.back().type != PieceType::kUnknown) continue;
      file.unknown_id = static_cast<int32_t>(file.pieces.size() - 1);
      ++unknown;
    } else if (field.number == 2) {
      read_trainer(field.bytes, file, where);
    } else if (field.number == 3 || field.number == 5) {
      check_normalizer(field.bytes, where);
      has_normalizer = true;
    }
  }
  // It stands behind the pieces, so a file that was cut between two of them lacks it.
  if (!file.pieces.empty() && !has_normalizer) {
    fail(ErrorKind::kBadFile,
         "{}: holds {} pieces but does not say how text is normalised; was it cut short?", where,
         file.pieces.size());
  }
  if (unknown != 1 || file.pieces.size() > kLargestTokenId) {
    fail(ErrorKind::kBadFile,
         "{}: not a SentencePiece model: {} pieces, of which {} stand for unknown text; one should",
         where, file.pieces.size(), unknown);
  }
  check_user_defined(file.pieces, where);
  return file;
}

}  // namespace fovea
