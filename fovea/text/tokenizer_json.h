// Reads tokenizer.json. The vocabulary and the merges, which are nearly all of such a file, go
// straight into their tables; the rest becomes a Json value.
#pragma once

#include <string_view>

#include "fovea/base/json.h"
#include "fovea/text/token_model.h"

namespace fovea {

struct TokenizerJson {
  Json rest;  // "model" without "vocab" and "merges", which are null in it
  ModelTables tables;
};

// Merges point into `text`, which must live until the model is made. Throws Error{kBadFile}.
TokenizerJson read_tokenizer_json(std::string_view text, std::string_view source);
// As above for vocab.json, an object of tokens and ids.
Vocabulary read_vocab_json(std::string_view text, std::string_view source);

}  // namespace fovea
