// Pre-tokenizers of tokenizer.json: how a normalized text is cut into words.
#pragma once

#include <memory>
#include <string_view>

#include "fovea/base/json.h"
#include "fovea/text/words.h"

namespace fovea {

class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;
  // Cuts each word further; none of them is empty. May be called from any thread.
  virtual void cut(Words& words) const = 0;
  // How the vocabulary behind it writes spaces and bytes.
  virtual bool maps_bytes() const { return false; }
  virtual char32_t space_mark() const { return 0; }
};

// `json` is the member "pre_tokenizer"; null gives none.
std::shared_ptr<const PreTokenizer> make_pre_tokenizer(const Json& json, std::string_view where);

// When Metaspace puts its mark before a text.
enum class PrependScheme { kFirst, kNever, kAlways };
// Reads the new `prepend_scheme` and the old `add_prefix_space`.
PrependScheme parse_prepend_scheme(const Json& json, std::string_view where);
char32_t parse_character(const Json& json, std::string_view key, char32_t missing,
                         std::string_view where);

}  // namespace fovea
