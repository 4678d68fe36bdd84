#include "fovea/text/unicode_forms.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <unordered_map>

#include "fovea/text/unicode.h"

namespace fovea {
namespace {

int combining_class(char32_t code) {
  return code < 0x300 ? 0
                      : utf8proc_get_property(static_cast<utf8proc_int32_t>(code))->combining_class;
}

constexpr char32_t kHangulFirst = 0xAC00;
constexpr char32_t kLeadFirst = 0x1100;
constexpr char32_t kVowelFirst = 0x1161;
constexpr char32_t kTailFirst = 0x11A7;
constexpr char32_t kLeads = 19;
constexpr char32_t kVowels = 21;
constexpr char32_t kTails = 28;

uint64_t pair_key(char32_t first, char32_t second) {
  return static_cast<uint64_t>(first) << 32U | second;
}

// Characters whose decompositions are newer than the library's Unicode (11).
bool is_newer_than_library(char32_t code) {
  return code == 0x32FF || (code >= 0xA7F2 && code <= 0xA7F4) || code == 0xAB69 ||
         (code >= 0x10781 && code <= 0x107BA) || code == 0x11938 ||
         (code >= 0x1E030 && code <= 0x1E06D) || code == 0x1F16C ||
         (code >= 0x1FBF0 && code <= 0x1FBF9);
}

size_t decompose(char32_t code, bool compatible, std::array<utf8proc_int32_t, 32>& parts) {
  if (code < 0x80 || is_newer_than_library(code)) {
    parts[0] = static_cast<utf8proc_int32_t>(code);
    return 1;
  }
  int last_class = 0;
  const int options = UTF8PROC_DECOMPOSE | (compatible ? UTF8PROC_COMPAT : 0);
  const auto count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(code), parts.data(),
                                             static_cast<utf8proc_ssize_t>(parts.size()),
                                             static_cast<utf8proc_option_t>(options), &last_class);
  if (count >= 1 && count <= static_cast<utf8proc_ssize_t>(parts.size())) {
    return static_cast<size_t>(count);
  }
  parts[0] = static_cast<utf8proc_int32_t>(code);
  return 1;
}

// Canonical pairs that compose, from the decompositions of all characters. A long decomposition is
// that of a composed character plus one more, so those are found in later rounds.
std::unordered_map<uint64_t, char32_t> make_compositions() {
  std::vector<char32_t> whole;  // what may come out
  for (char32_t code = 0xC0; code < 0x20000; ++code) {
    if (code >= kHangulFirst && code < 0xE000) continue;
    const auto* property = utf8proc_get_property(static_cast<utf8proc_int32_t>(code));
    if (property->decomp_seqindex == UINT16_MAX || property->comp_exclusion != 0 ||
        property->decomp_type != 0 || property->combining_class != 0) {
      continue;
    }
    whole.push_back(code);
  }
  std::unordered_map<uint64_t, char32_t> pairs;
  pairs.reserve(whole.size());
  std::array<utf8proc_int32_t, 32> parts{};
  constexpr int kRounds = 4;
  for (size_t round = 2; round < 2 + kRounds; ++round) {
    for (const char32_t code : whole) {
      if (decompose(code, false, parts) != round) continue;
      if (combining_class(static_cast<char32_t>(parts[0])) != 0) continue;
      auto first = static_cast<char32_t>(parts[0]);
      for (size_t i = 1; i + 1 < round && first != 0; ++i) {
        const auto found = pairs.find(pair_key(first, static_cast<char32_t>(parts[i])));
        first = found == pairs.end() ? 0 : found->second;
      }
      if (first != 0) pairs.emplace(pair_key(first, static_cast<char32_t>(parts[round - 1])), code);
    }
  }
  return pairs;
}

// 0 if the two do not compose.
char32_t compose(char32_t first, char32_t second) {
  if (first >= kLeadFirst && first < kLeadFirst + kLeads && second >= kVowelFirst &&
      second < kVowelFirst + kVowels) {
    return kHangulFirst + ((first - kLeadFirst) * kVowels + second - kVowelFirst) * kTails;
  }
  if (first >= kHangulFirst && first < kHangulFirst + kLeads * kVowels * kTails &&
      (first - kHangulFirst) % kTails == 0 && second > kTailFirst && second < kTailFirst + kTails) {
    return first + second - kTailFirst;
  }
  static const std::unordered_map<uint64_t, char32_t> pairs = make_compositions();
  const auto found = pairs.find(pair_key(first, second));
  return found == pairs.end() ? 0 : found->second;
}

std::vector<CharacterChange> decomposed(std::string_view text, bool compatible) {
  std::vector<CharacterChange> changes;
  changes.reserve(text.size());
  std::array<utf8proc_int32_t, 32> parts{};
  size_t pending = 0;  // since the last starter, not yet in canonical order
  const auto by_class = [](const CharacterChange& a, const CharacterChange& b) {
    return combining_class(a.code) < combining_class(b.code);
  };
  const auto sort_pending = [&] {
    if (changes.size() < pending + 2) return;
    std::stable_sort(changes.begin() + static_cast<ptrdiff_t>(pending), changes.end(), by_class);
  };
  for (size_t offset = 0; offset < text.size();) {
    const Character character = character_at(text, offset);
    offset += character.bytes;
    if (character.code < 0x80) {
      sort_pending();
      pending = changes.size();
      changes.push_back({character.code, 0});
      continue;
    }
    const size_t count = decompose(character.code, compatible, parts);
    for (size_t i = 0; i < count; ++i) {
      const auto code = static_cast<char32_t>(parts[i]);
      if (combining_class(code) == 0) {
        sort_pending();
        pending = changes.size();
      }
      changes.push_back({code, i == 0 ? 0 : 1});
    }
  }
  sort_pending();
  return changes;
}

std::vector<CharacterChange> recomposed(const std::vector<CharacterChange>& parts) {
  std::vector<CharacterChange> changes;
  changes.reserve(parts.size());
  constexpr size_t kNone = ~size_t{0};
  size_t starter = kNone;
  int last_class = 0;
  for (const CharacterChange& part : parts) {
    if (part.code < 0x300) {  // begins anew: nothing composes with it as the second
      starter = changes.size();
      last_class = 0;
      changes.push_back(part);
      continue;
    }
    const int part_class = combining_class(part.code);
    if (starter != kNone) {
      const bool adjacent = starter + 1 == changes.size();
      if (adjacent || last_class < part_class) {
        if (const char32_t whole = compose(changes[starter].code, part.code); whole != 0) {
          changes[starter].code = whole;
          changes[starter].change += part.change - 1;
          continue;
        }
      }
    }
    changes.push_back(part);
    last_class = part_class;
    if (part_class == 0) starter = changes.size() - 1;
  }
  return changes;
}

}  // namespace

void apply_unicode_form(AlignedText& text, UnicodeForm form) {
  if (is_ascii(text.text())) return;
  const bool compatible = form == UnicodeForm::kNfkc || form == UnicodeForm::kNfkd;
  std::vector<CharacterChange> changes = decomposed(text.text(), compatible);
  if (form == UnicodeForm::kNfc || form == UnicodeForm::kNfkc) changes = recomposed(changes);
  text.transform(changes);
}

}  // namespace fovea
