// Byte-level BPE cuts words by patterns first, one after another. The names are those that files of
// llama, mistral, qwen, gpt2 and bert models have.
#include "fovea/text/gguf_pre_tokenizer.h"

#include <algorithm>
#include <string>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/text/json_fields.h"

namespace fovea {
namespace {

struct KnownPreTokenizer {
  std::vector<std::string_view> names;
  std::vector<std::string> patterns;
  bool ignores_merges = false;
  bool adds_bos = false;
  bool adds_separator = false;
};

// Letters that have capital and small forms, as DeepSeek lists them.
constexpr std::string_view kCasedLetters =
    R"([A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚ)"
    R"(Ḁ-ἕἘ-Ἕἠ-ὅὈ-Ὅὐ-ὗὙὛὝὟ-ώᾀ-ᾴᾶ-ᾼιῂ-ῄῆ-ῌῐ-ΐῖ-Ίῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤΩℨK-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄ)"
    R"(Ⰰ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃]+)";

std::vector<KnownPreTokenizer> make_table() {
  const std::string endings = "(?i:'s|'t|'re|'ve|'m|'ll|'d)";
  const std::string spaces = R"(|\s*[\r\n]+|\s+(?!\S)|\s+)";
  const std::string rest = R"(| ?[^\s\p{L}\p{N}]+[\r\n]*)" + spaces;
  const std::string word = R"([^\r\n\p{L}\p{N}]?\p{L}+|)";
  const std::string three_digits = endings + "|" + word + R"(\p{N}{1,3})" + rest;
  const std::string gpt2 =
      R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
  // Words that end where a small letter is followed by a capital one.
  const std::string start = R"([^\r\n\p{L}\p{N}]?)";
  const std::string large = R"(((?=[\p{L}])([^a-z])))", small = R"(((?=[\p{L}])([^A-Z])))";
  const std::string cased[2] = {start + large + "*" + small + "+", start + large + "+" + small + "*"};
  const std::string slashed = R"(| ?[^\s\p{L}\p{N}]+[\r\n/]*)" + spaces;
  const std::string deepseek3 =
      R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+)"
      R"(| ?[\p{P}\p{S}]+[\r\n]*)" + spaces;
  const std::string east_asian = "[一-龥ࠀ-一가-\uD7FF]+", digit = R"(\p{N})", digits = R"(\p{N}+)";
  const std::string three_ascii = "[0-9][0-9][0-9]";
  const std::string between_marks = R"( ?[^(\s|.,!?…。，、।۔،)]+)";
  return {
      {.names = {"gpt-2", "gpt2", "phi-2", "jina-es", "jina-de", "jina-v2-es", "jina-v2-de",
                 "gigachat", "a.x-4.0", "mellum", "modern-bert", "mpt", "olmo", "jais", "exaone4",
                 "trillion", "granite-docling"},
       .patterns = {gpt2}},
      {.names = {"roberta-bpe", "jina-v1-en", "jina-v2-code"},
       .patterns = {gpt2},
       .adds_bos = true,
       .adds_separator = true},
      {.names = {"smollm", "starcoder", "refact", "command-r", "codeshell", "exaone", "minerva-7b",
                 "mellum2"},
       .patterns = {digit, gpt2}},
      {.names = {"llama-bpe", "llama3", "llama-v3", "falcon3", "falcon-h1", "pixtral", "midm-2.0",
                 "lfm2", "jina-v5-nano"},
       .patterns = {three_digits},
       .ignores_merges = true,
       .adds_bos = true},
      {.names = {"smaug-bpe", "dbrx", "chatglm-bpe"}, .patterns = {three_digits}},
      {.names = {"qwen2", "deepseek-r1-qwen", "kormo", "stablelm2", "hunyuan", "solar-open",
                 "megrez", "grok-2"},
       .patterns = {endings + "|" + word + digit + rest}},
      {.names = {"qwen35"},
       .patterns = {endings + R"(|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N})" +
                    R"(| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*)" + spaces}},
      {.names = {"default", ""},
       .patterns = {R"([\p{P}\$\+<=>\^~\|]+)", gpt2, digits, three_ascii}},
      {.names = {"deepseek-llm"},
       .patterns = {"[\r\n]", R"(\s?)" + std::string(kCasedLetters),
                    R"(\s?[!-/:-~！-／：-～‘-‟　-。]+)", R"(\s+$)", east_asian, digits}},
      {.names = {"deepseek-coder"},
       .patterns = {"[\r\n]", R"(\s?\p{L}+)", R"(\s?\p{P}+)", east_asian, digit}},
      {.names = {"deepseek-v3", "hunyuan-dense", "joyai-llm"},
       .patterns = {R"(\p{N}{1,3})", "[一-龥぀-ゟ゠-ヿ]+", deepseek3}},
      {.names = {"falcon"}, .patterns = {R"([\p{P}\$\+<=>\^~\|`]+)", gpt2, three_ascii}},
      {.names = {"tekken"},
       .patterns = {cased[0] + "|" + cased[1] + "|" + digit + slashed},
       .ignores_merges = true,
       .adds_bos = true},
      {.names = {"gpt-4o", "llama4", "kanana2", "minimax-m2"},
       .patterns = {cased[0] + endings + "?|" + cased[1] + endings + R"(?|\p{N}{1,3})" + slashed}},
      {.names = {"seed-coder"},
       .patterns = {endings + "|" + word + digit + R"(| ?[^\s\p{L}\p{N}\r\n]+)" + spaces}},
      {.names = {"minicpm5"}, .patterns = {R"(\p{N}{1,3})", endings + "|" + word + digits + rest}},
      {.names = {"bloom", "poro-chat", "gpt3-finnish"}, .patterns = {between_marks}},
      {.names = {"viking"}, .patterns = {between_marks, digit}},
  };
}

// A Split of tokenizer.json by the pattern; matches and what lies between them are pieces.
Json split_by(const std::string& pattern) {
  return object_of({{"type", "Split"},
                    {"pattern", object_of({{"Regex", pattern}})},
                    {"behavior", "Isolated"},
                    {"invert", false}});
}

Json sequence_of(const std::vector<std::string>& patterns) {
  Json parts = Json::array();
  for (const std::string& pattern : patterns) parts.push_back(split_by(pattern));
  parts.push_back(
      object_of({{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}}));
  return object_of({{"type", "Sequence"}, {"pretokenizers", std::move(parts)}});
}

}  // namespace

GgufPreTokenizer gguf_pre_tokenizer(std::string_view name, std::string_view source) {
  static const std::vector<KnownPreTokenizer> table = make_table();
  for (const KnownPreTokenizer& known : table) {
    if (std::ranges::find(known.names, name) == known.names.end()) continue;
    return {sequence_of(known.patterns), known.ignores_merges, known.adds_bos,
            known.adds_separator};
  }
  std::string names;
  for (const KnownPreTokenizer& known : table) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", known.names.front());
  }
  fail(ErrorKind::kUnsupported,
       "{}: cuts words as '{}' does (tokenizer.ggml.pre), which fovea does not know; it knows {} and "
       "their like: put the model's tokenizer.json beside the file",
       source, name, names);
}

}  // namespace fovea
