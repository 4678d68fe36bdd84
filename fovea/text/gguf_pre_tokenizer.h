// How llama.cpp's names of pre-tokenizers read in tokenizer.json.
#pragma once

#include <string_view>

#include "fovea/base/json.h"

namespace fovea {

struct GgufPreTokenizer {
  Json json;                    // "pre_tokenizer"
  bool ignores_merges = false;  // a word that is a token is that token
  bool adds_bos = false;        // unless the file says otherwise
};

// Throws Error{kUnsupported} with the name for one that is not known.
GgufPreTokenizer gguf_pre_tokenizer(std::string_view name, std::string_view source);

}  // namespace fovea
