// SentencePiece's precompiled character map: a double-array trie (Darts) over UTF-8 whose values
// are offsets into a block of zero-terminated replacements.
#include <utf8proc.h>

#include <array>
#include <cstring>
#include <optional>

#include "fovea/base/error.h"
#include "fovea/text/normalizer.h"
#include "fovea/text/unicode.h"

namespace fovea {
namespace {

std::string decode_base64(std::string_view text, std::string_view where) {
  static constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::array<int8_t, 256> value{};
  value.fill(-1);
  for (size_t i = 0; i < kDigits.size(); ++i) {
    value[static_cast<unsigned char>(kDigits[i])] = static_cast<int8_t>(i);
  }
  while (text.ends_with('=')) text.remove_suffix(1);
  std::string bytes(text.size() * 3 / 4, '\0');
  size_t size = 0;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const int digit = value[static_cast<unsigned char>(c)];
    if (digit < 0) fail(ErrorKind::kBadFile, "{}: precompiled_charsmap is not base64", where);
    bits = bits << 6U | static_cast<uint32_t>(digit);
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes[size++] = static_cast<char>(bits >> static_cast<uint32_t>(count) & 0xFFU);
    }
  }
  return bytes;
}

class Precompiled final : public Normalizer {
 public:
  Precompiled(std::string_view base64, std::string_view where) {
    const std::string bytes = decode_base64(base64, where);
    uint32_t trie_bytes = 0;
    if (bytes.size() >= 4) std::memcpy(&trie_bytes, bytes.data(), 4);
    if (bytes.size() < 4 || trie_bytes > bytes.size() - 4 || trie_bytes % 4 != 0) {
      fail(ErrorKind::kBadFile, "{}: precompiled_charsmap of {} bytes has a trie of {} bytes",
           where, bytes.size(), trie_bytes);
    }
    trie_.resize(trie_bytes / 4);
    if (trie_bytes > 0) std::memcpy(trie_.data(), bytes.data() + 4, trie_bytes);
    replacements_ = bytes.substr(4 + trie_bytes);
    if (!is_valid_utf8(replacements_)) {
      fail(ErrorKind::kBadFile, "{}: precompiled_charsmap holds invalid UTF-8", where);
    }
  }

  void apply(AlignedText& text) const override {
    std::vector<CharacterChange> changes;
    changes.reserve(text.text().size());
    bool modified = false;
    const std::string_view all = text.text();
    for (size_t offset = 0; offset < all.size();) {
      const std::string_view grapheme = all.substr(offset, grapheme_size(all.substr(offset)));
      offset += grapheme.size();
      // The library looks up a whole grapheme only if it has fewer than six bytes.
      if (grapheme.size() < 6) {
        if (const auto whole = find(grapheme)) {
          modified = true;
          add(changes, grapheme, *whole);
          continue;
        }
      }
      for (size_t i = 0; i < grapheme.size();) {
        const Character character = character_at(grapheme, i);
        const std::string_view part = grapheme.substr(i, character.bytes);
        i += character.bytes;
        if (const auto found = find(part)) {
          modified = true;
          add(changes, part, *found);
        } else {
          changes.push_back({character.code, 0});
        }
      }
    }
    if (modified) text.transform(changes);
  }

 private:
  static size_t grapheme_size(std::string_view text) {
    const auto is_ascii_byte = [&](size_t i) { return static_cast<unsigned char>(text[i]) < 0x80; };
    // Two characters of ASCII never belong together but for a line end of two.
    if (text[0] != '\r' && is_ascii_byte(0) && (text.size() == 1 || is_ascii_byte(1))) return 1;
    const Character first = character_at(text, 0);
    size_t size = first.bytes;
    utf8proc_int32_t state = 0;
    auto before = static_cast<utf8proc_int32_t>(first.code);
    while (size < text.size()) {
      const Character next = character_at(text, size);
      const auto code = static_cast<utf8proc_int32_t>(next.code);
      if (utf8proc_grapheme_break_stateful(before, code, &state) != 0) break;
      before = code;
      size += next.bytes;
    }
    return size;
  }

  // The replacement of the shortest prefix in the map.
  std::optional<std::string_view> find(std::string_view key) const {
    if (trie_.empty()) return std::nullopt;
    const auto offset_of = [](uint32_t unit) { return unit >> 10U << ((unit & 0x200U) >> 6U); };
    uint32_t node = offset_of(trie_[0]);
    for (const char c : key) {
      const auto byte = static_cast<unsigned char>(c);
      if (byte == 0) return std::nullopt;
      node ^= byte;
      if (node >= trie_.size()) return std::nullopt;
      const uint32_t unit = trie_[node];
      if ((unit & 0x800000FFU) != byte) return std::nullopt;
      node ^= offset_of(unit);
      if ((unit >> 8U & 1U) == 0) continue;
      if (node >= trie_.size()) return std::nullopt;
      const uint32_t value = trie_[node] & 0x7FFFFFFFU;
      if (value >= replacements_.size() || is_continuation(replacements_[value])) {
        return std::nullopt;
      }
      const size_t end = replacements_.find('\0', value);
      return std::string_view(replacements_).substr(value, end - value);
    }
    return std::nullopt;
  }

  static void add(std::vector<CharacterChange>& changes, std::string_view before,
                  std::string_view after) {
    const std::u32string codes = decode_utf8(after);
    const auto old_count = static_cast<ptrdiff_t>(decode_utf8(before).size());
    const auto new_count = static_cast<ptrdiff_t>(codes.size());
    for (ptrdiff_t i = 0; i < new_count; ++i) {
      changes.push_back({codes[static_cast<size_t>(i)], i < old_count ? 0 : 1});
    }
    if (new_count < old_count && !changes.empty()) {
      changes.back().change += static_cast<int32_t>(new_count - old_count);
    }
  }

  std::vector<uint32_t> trie_;
  std::string replacements_;
};

}  // namespace

std::shared_ptr<const Normalizer> make_precompiled(std::string_view base64,
                                                   std::string_view where) {
  return std::make_shared<Precompiled>(base64, where);
}

}  // namespace fovea
