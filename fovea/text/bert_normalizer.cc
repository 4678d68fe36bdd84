#include "fovea/text/normalizer.h"
#include "fovea/text/unicode.h"
#include "fovea/text/unicode_forms.h"

namespace fovea {
namespace {

class BertNormalizer final : public Normalizer {
 public:
  explicit BertNormalizer(BertNormalizerOptions options) : options_(options) {}

  void apply(AlignedText& text) const override {
    if (is_ascii(text.text()) && apply_ascii(text)) return;
    text.rewrite([&](char32_t code) { return cleaned(code); });
    if (options_.strip_accents) apply_unicode_form(text, UnicodeForm::kNfd);
    if (options_.strip_accents || options_.lowercase) {
      text.rewrite([&](char32_t code) { return without_accent(code); });
    }
  }

 private:
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

  // Without control characters, all white space as spaces, spaces around Chinese characters.
  Replacement cleaned(char32_t code) const {
    if (code >= 0x20 && code < 0x7F) return {1, {code}};
    if (options_.clean_text) {
      if (code == '\t' || code == '\n' || code == '\r') return {1, {U' '}};
      if (is_bert_control(code)) return {0, {}};
      if (is_white_space(code)) code = U' ';
    }
    if (options_.handle_chinese_chars && is_bert_chinese(code)) return {3, {U' ', code, U' '}};
    return {1, {code}};
  }

  Replacement without_accent(char32_t code) const {
    if (options_.strip_accents && is_nonspacing_mark(code)) return {0, {}};
    return options_.lowercase ? lowered(code) : Replacement{1, {code}};
  }

  BertNormalizerOptions options_;
};

}  // namespace

std::shared_ptr<const Normalizer> make_bert_normalizer(BertNormalizerOptions options) {
  return std::make_shared<BertNormalizer>(options);
}

}  // namespace fovea
