#include "fovea/engine/encoded_input.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/engine/text_axis.h"

namespace fovea {

EncodedInput encode_text(const Tokenizer& tokenizer, std::string_view text,
                         std::optional<std::string_view> pair, SpecialTokens special) {
  const bool adds = special == SpecialTokens::kAdded;
  const Encoding encoding =
      pair ? tokenizer.encode_pair(text, *pair, adds) : tokenizer.encode(text, adds);
  if (encoding.size() == 0) {
    fail(ErrorKind::kInvalidArgument,
         "the text gives no tokens: it has {} bytes and this tokenizer adds none of its own; give "
         "some text",
         text.size());
  }
  EncodedInput input;
  input.inputs.input_ids.assign(encoding.ids.begin(), encoding.ids.end());
  input.inputs.token_type_ids.assign(encoding.type_ids.begin(), encoding.type_ids.end());
  input.axis = text_axis(tokenizer, encoding, text, pair.value_or(""));
  if (std::ranges::all_of(input.axis.positions, &Position::special)) {
    input.warnings.emplace_back("the text has no words; only the model's own tokens are shown");
  }
  if (encoding.invalid_bytes > 0) {
    input.warnings.push_back(
        fmt::format("{} bytes of the {} are no UTF-8 (the first at {}); each is read as U+FFFD",
                    encoding.invalid_bytes, encoding.invalid_in_pair ? "pair" : "text",
                    encoding.first_invalid));
  }
  return input;
}

}  // namespace fovea
