// What a model runs on: a text, a picture or both, with the axes that name its positions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/capture/run.h"
#include "fovea/models/model.h"
#include "fovea/text/tokenizer.h"

namespace fovea {

struct EncodedInput {
  ModelInputs inputs;
  Axis axis;     // the text, or a decoder's source; empty for a picture alone
  Axis patches;  // the picture's patches, or cells of its feature map; empty: no picture
  Axis target;   // what the decoder reads; empty: there is no decoder
  std::optional<int64_t> next_id;     // the token after the target, if known
  std::vector<std::string> warnings;  // for the user: replaced bytes, unusual length
};

// Whether the tokenizer puts its own tokens around a text, or the text has them.
enum class SpecialTokens { kAdded, kInText };

// Throws Error{kInvalidArgument} if the text gives no tokens.
EncodedInput encode_text(const Tokenizer& tokenizer, std::string_view text,
                         std::optional<std::string_view> pair = {},
                         SpecialTokens special = SpecialTokens::kAdded);

}  // namespace fovea
