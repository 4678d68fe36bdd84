// The first two bytes say how much of the rest is a tokenizer.json; what follows is text. The text
// also goes through a small tokenizer that is always the same.
#include <string>

#include "fovea/base/error.h"
#include "fovea/text/tokenizer.h"
#include "fuzz/fuzz_touch.h"

namespace {

constexpr std::string_view kFixed = R"({"added_tokens":[
 {"id":0,"content":"[UNK]","special":true},{"id":6,"content":"[X]","lstrip":true,"rstrip":true,"normalized":true}],
 "normalizer":{"type":"Sequence","normalizers":[{"type":"BertNormalizer"},{"type":"NFKC"}]},
 "pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"Split","pattern":{"Regex":" ?\\p{L}+|\\p{N}{1,3}|\\s+(?!\\S)|\\s"},
  "behavior":"Isolated","invert":false},{"type":"ByteLevel","add_prefix_space":true,"use_regex":true}]},
 "post_processor":{"type":"Sequence","processors":[{"type":"ByteLevel","trim_offsets":true},
  {"type":"BertProcessing","cls":["a",1],"sep":["b",2]}]},
 "decoder":{"type":"ByteLevel"},
 "model":{"type":"BPE","unk_token":"[UNK]","vocab":{"[UNK]":0,"a":1,"b":2,"ab":3,"Ġ":4,"Ġa":5},"merges":["a b","Ġ a"]}})";

void check(const fovea::Tokenizer& tokenizer, std::string_view text) {
  const fovea::Encoding encoding = tokenizer.encode(text);
  for (size_t i = 0; i < encoding.size(); ++i) {
    const fovea::ByteSpan span = encoding.offsets[i];
    fovea::require(span.begin <= span.end && span.end <= text.size());
  }
  fovea::require(encoding.tokens.size() == encoding.size() &&
                 encoding.words.size() == encoding.size() &&
                 encoding.special.size() == encoding.size());
  (void)tokenizer.decode(encoding.ids, false);
  (void)tokenizer.decode(encoding.ids, true);
  for (const auto& shown : tokenizer.show(encoding)) fovea::require(!shown.info.display.empty());
  (void)tokenizer.encode_pair(text, text.substr(0, text.size() / 2), true);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const fovea::Tokenizer fixed = fovea::Tokenizer::from_json(kFixed, "fixed");
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  check(fixed, all);
  if (size < 2) return 0;
  const size_t json_size = std::min<size_t>(size - 2, data[0] + size_t{256} * data[1]);
  try {
    const auto tokenizer = fovea::Tokenizer::from_json(all.substr(2, json_size), "input");
    check(tokenizer, all.substr(2 + json_size));
  } catch (const fovea::Error&) {
  }
  return 0;
}
