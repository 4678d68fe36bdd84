// What a tokenizer is made of; for the files of this folder that make one.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "fovea/text/added_tokens.h"
#include "fovea/text/decoder.h"
#include "fovea/text/languages.h"
#include "fovea/text/normalizer.h"
#include "fovea/text/post_processor.h"
#include "fovea/text/pre_tokenizer.h"
#include "fovea/text/token_model.h"
#include "fovea/text/tokenizer.h"

namespace fovea {

struct Tokenizer::Parts {
  std::shared_ptr<const Normalizer> normalizer;
  std::shared_ptr<const PreTokenizer> pre_tokenizer;
  std::shared_ptr<const TokenModel> model;  // never null
  std::shared_ptr<const PostProcessor> post_processor;
  std::shared_ptr<const Decoder> decoder;
  AddedTokens added;
  std::map<std::string, int32_t, std::less<>> roles;
  LanguageTokens languages;
  bool maps_bytes = false;  // tokens are written in byte characters
  char32_t space_mark = 0;  // ▁
};

Tokenizer make_tokenizer(Tokenizer::Parts parts);
// All but the model, from the members of tokenizer.json.
Tokenizer make_tokenizer(std::shared_ptr<const TokenModel> model, const Json& json,
                         std::string_view where);

}  // namespace fovea
