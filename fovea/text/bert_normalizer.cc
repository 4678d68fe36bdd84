#include "fovea/text/normalizer.h"
#include "fovea/text/unicode.h"
#include "fovea/text/unicode_forms.h"

namespace fovea {
namespace {

class BertNormalizer final : public Normalizer {
 public:
  explicit BertNormalizer(BertNormalizerOptions options) : options_(options) {}

  void apply(AlignedText& text) const override {
    if (is_ascii(text.text())) return apply_part(text);
    // Nothing done here reaches over from ASCII to the rest or back, and ASCII is quick.
    const std::string& all = text.text();
    AlignedText result("", text.origin());
    for (size_t begin = 0; begin < all.size();) {
      const auto high = [&](size_t i) { return static_cast<unsigned char>(all[i]) >= 0x80; };
      size_t end = begin + 1;
      while (end < all.size() && high(end) == high(begin)) ++end;
      AlignedText part = text.slice(begin, end);
      apply_part(part);
      if (!part.empty()) result.join(std::move(part));
      begin = end;
    }
    text = std::move(result);
  }

 private:
  void apply_part(AlignedText& text) const {
    if (is_ascii(text.text()) && apply_ascii(text)) return;
    if (options_.clean_text) clean(text);
    if (options_.handle_chinese_chars) space_chinese(text);
    if (options_.strip_accents) {
      apply_unicode_form(text, UnicodeForm::kNfd);
      text.filter([](char32_t code) { return !is_nonspacing_mark(code); });
    }
    if (options_.lowercase) text.lowercase();
  }

  // False if characters would vanish, which needs the long way.
  bool apply_ascii(AlignedText& text) const {
    std::string changed = text.text();
    for (char& c : changed) {
      const auto code = static_cast<unsigned char>(c);
      if (options_.clean_text) {
        if (code == '\t' || code == '\n' || code == '\r') {
          c = ' ';
        } else if (code < 0x20 || code == 0x7F) {
          return false;
        }
      }
      if (options_.lowercase && code >= 'A' && code <= 'Z') c = static_cast<char>(code + 32);
    }
    text.set_same_size(std::move(changed));
    return true;
  }

  static void clean(AlignedText& text) {
    text.filter([](char32_t code) {
      return code == '\t' || code == '\n' || code == '\r' || !is_bert_control(code);
    });
    text.map([](char32_t code) { return is_white_space(code) ? U' ' : code; });
  }

  static void space_chinese(AlignedText& text) {
    std::vector<CharacterChange> changes;
    bool any = false;
    for (const char32_t code : decode_utf8(text.text())) {
      if (is_bert_chinese(code)) {
        changes.insert(changes.end(), {{U' ', 0}, {code, 1}, {U' ', 1}});
        any = true;
      } else {
        changes.push_back({code, 0});
      }
    }
    if (any) text.transform(changes);
  }

  BertNormalizerOptions options_;
};

}  // namespace

std::shared_ptr<const Normalizer> make_bert_normalizer(BertNormalizerOptions options) {
  return std::make_shared<BertNormalizer>(options);
}

}  // namespace fovea
