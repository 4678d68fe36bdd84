#include "fovea/text/normalizer.h"

#include <functional>
#include <utility>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/text/byte_level.h"
#include "fovea/text/json_fields.h"
#include "fovea/text/pattern.h"
#include "fovea/text/unicode.h"
#include "fovea/text/unicode_forms.h"

namespace fovea {
namespace {

using NormalizeWork = std::function<void(AlignedText&)>;

class SimpleNormalizer final : public Normalizer {
 public:
  explicit SimpleNormalizer(NormalizeWork work) : work_(std::move(work)) {}
  void apply(AlignedText& text) const override { work_(text); }

 private:
  NormalizeWork work_;
};

bool is_dropped_by_nmt(char32_t code) {
  return (code >= 1 && code <= 8) || code == 0xB || (code >= 0xE && code <= 0x1F) || code == 0x7F ||
         code == 0x8F || code == 0x9F;
}

bool is_space_to_nmt(char32_t code) {
  return code == 9 || code == 0xA || code == 0xC || code == 0xD || code == 0x1680 ||
         (code >= 0x200B && code <= 0x200F) || code == 0x2028 || code == 0x2029 || code == 0x2581 ||
         code == 0xFEFF || code == 0xFFFD;
}

void apply_nmt(AlignedText& text) {
  text.filter([](char32_t code) { return !is_dropped_by_nmt(code); });
  text.map([](char32_t code) { return is_space_to_nmt(code) ? U' ' : code; });
}

NormalizeWork make_text_replace(const Json& json, std::string_view where) {
  Pattern pattern = make_pattern(json.at("pattern", where), where);
  return [pattern = std::move(pattern),
          content = string_field(json, "content", where)](AlignedText& text) {
    std::vector<ByteSpan> ranges;
    PatternFinder finder(pattern);
    for (const PatternPiece& piece : finder.pieces(text.text())) {
      if (piece.is_match) ranges.push_back(piece.span);
    }
    text.replace(ranges, content);
  };
}

NormalizeWork make_form(UnicodeForm form) {
  return [form](AlignedText& text) { apply_unicode_form(text, form); };
}

NormalizeWork make_normalizer_sequence(const Json& json, std::string_view where) {
  std::vector<std::shared_ptr<const Normalizer>> parts;
  for (const Json& part : json.at("normalizers", where).as_array(where)) {
    if (auto made = make_normalizer(part, where)) parts.push_back(std::move(made));
  }
  return [parts = std::move(parts)](AlignedText& text) {
    for (const auto& part : parts) part->apply(text);
  };
}

NormalizeWork make_simple(const std::string& type, const Json& json, std::string_view where) {
  if (type == "NFC") return make_form(UnicodeForm::kNfc);
  if (type == "NFD") return make_form(UnicodeForm::kNfd);
  if (type == "NFKC") return make_form(UnicodeForm::kNfkc);
  if (type == "NFKD") return make_form(UnicodeForm::kNfkd);
  if (type == "Sequence") return make_normalizer_sequence(json, where);
  if (type == "Replace") return make_text_replace(json, where);
  if (type == "Lowercase") return [](AlignedText& text) { text.lowercase(); };
  if (type == "Nmt") return apply_nmt;
  if (type == "StripAccents") {
    return [](AlignedText& text) {
      text.filter([](char32_t code) { return !is_combining_mark(code); });
    };
  }
  if (type == "Prepend") {
    return [prefix = string_field(json, "prepend", where)](AlignedText& text) {
      text.prepend(prefix);
    };
  }
  if (type == "Strip") {
    const bool left = bool_field(json, "strip_left", true, where);
    const bool right = bool_field(json, "strip_right", true, where);
    return [left, right](AlignedText& text) { text.strip(left, right); };
  }
  if (type == "ByteLevel") {
    return [](AlignedText& text) {
      AlignedText mapped("", text.origin());
      add_byte_characters(text, 0, text.text().size(), mapped);
      text = std::move(mapped);
    };
  }
  fail(ErrorKind::kUnsupported, "{}: the normalizer '{}' is not known", where, type);
}

}  // namespace

std::shared_ptr<const Normalizer> make_normalizer(const Json& json, std::string_view where) {
  if (json.is_null()) return nullptr;
  const std::string type = string_field(json, "type", where);
  if (type == "BertNormalizer") {
    BertNormalizerOptions options;
    options.clean_text = bool_field(json, "clean_text", true, where);
    options.handle_chinese_chars = bool_field(json, "handle_chinese_chars", true, where);
    options.lowercase = bool_field(json, "lowercase", true, where);
    options.strip_accents = bool_field(json, "strip_accents", options.lowercase, where);
    return make_bert_normalizer(options);
  }
  if (type == "Precompiled") {
    const Json* map = json.find("precompiled_charsmap");
    if (map == nullptr || map->is_null()) return nullptr;
    return make_precompiled(map->as_string(where), where);
  }
  return std::make_shared<SimpleNormalizer>(make_simple(type, json, where));
}

}  // namespace fovea
