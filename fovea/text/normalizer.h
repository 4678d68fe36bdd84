// Normalizers of tokenizer.json: what is done to a text before it is cut.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "fovea/base/json.h"
#include "fovea/text/aligned_text.h"

namespace fovea {

class Normalizer {
 public:
  virtual ~Normalizer() = default;
  // May be called from any thread.
  virtual void apply(AlignedText& text) const = 0;
};

// `json` is the member "normalizer"; null gives no normalizer. Throws Error{kUnsupported} for one
// that is not known.
std::shared_ptr<const Normalizer> make_normalizer(const Json& json, std::string_view where);

struct BertNormalizerOptions {
  bool clean_text = true;
  bool handle_chinese_chars = true;
  bool strip_accents = true;
  bool lowercase = true;
};
std::shared_ptr<const Normalizer> make_bert_normalizer(BertNormalizerOptions options);
// SentencePiece's character map: base64 of a trie and the texts it leads to.
std::shared_ptr<const Normalizer> make_precompiled(std::string_view base64, std::string_view where);

}  // namespace fovea
