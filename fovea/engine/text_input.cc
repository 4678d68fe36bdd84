#include "fovea/engine/text_input.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/engine/text_axis.h"

namespace fovea {
namespace {

// Models see no difference between things that are not in the vocabulary.
void warn_of_unknown(const Tokenizer& tokenizer, const Encoding& encoding, std::string_view text,
                     std::vector<std::string>& warnings) {
  const std::optional<int32_t> unknown = tokenizer.unknown_id();
  int64_t count = 0;
  std::string first;
  for (size_t i = 0; i < encoding.size(); ++i) {
    if (encoding.sequences[i] != 0 || encoding.ids[i] != unknown) continue;
    if (count++ == 0) {
      const ByteSpan span = encoding.offsets[i];
      first = text.substr(span.begin, span.end - span.begin);
    }
  }
  if (count == 0) return;
  warnings.push_back(fmt::format(
      "{} of the {} tokens are not in the vocabulary (the first: '{}'); the model takes "
      "all of them for the same",
      count, encoding.size(), to_one_line(first)));
}

}  // namespace

TextInput encode_text(const Tokenizer& tokenizer, std::string_view text,
                      std::optional<std::string_view> pair) {
  const Encoding encoding = pair ? tokenizer.encode_pair(text, *pair) : tokenizer.encode(text);
  if (encoding.size() == 0) {
    fail(ErrorKind::kInvalidArgument,
         "the text gives no tokens: it has {} bytes and this tokenizer adds none of its own; give "
         "some text",
         text.size());
  }
  TextInput input;
  input.inputs.input_ids.assign(encoding.ids.begin(), encoding.ids.end());
  input.inputs.token_type_ids.assign(encoding.type_ids.begin(), encoding.type_ids.end());
  input.axis = text_axis(tokenizer, encoding, text, pair.value_or(""));
  if (std::ranges::all_of(input.axis.positions, &Position::special)) {
    input.warnings.emplace_back("the text has no words; only the model's own tokens are shown");
  }
  warn_of_unknown(tokenizer, encoding, text, input.warnings);
  if (encoding.invalid_bytes > 0) {
    input.warnings.push_back(
        fmt::format("{} bytes of the {} are no UTF-8 (the first at {}); each is read as U+FFFD",
                    encoding.invalid_bytes, encoding.invalid_in_pair ? "pair" : "text",
                    encoding.first_invalid));
  }
  return input;
}

}  // namespace fovea
