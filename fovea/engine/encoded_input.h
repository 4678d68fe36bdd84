// What a model is run on, with the axes of its positions: a text, a picture, or both.
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
  Axis axis;     // of the text, or of the source where there is a decoder; of a picture alone: none
  Axis patches;  // of the picture, or cells of its feature map; without positions: there is none
  Axis target;   // of what the decoder reads; without positions: there is none
  std::optional<int64_t> next_id;     // what comes after the target, where it is known
  std::vector<std::string> warnings;  // for the user: what was replaced, what is longer than usual
};

// Throws Error{kInvalidArgument} if the text gives no tokens.
EncodedInput encode_text(const Tokenizer& tokenizer, std::string_view text,
                         std::optional<std::string_view> pair = {});

}  // namespace fovea
