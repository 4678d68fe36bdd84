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
};

// Letters that have capital and small forms, as DeepSeek lists them.
constexpr std::string_view kCasedLetters =
    R"([\x{41}-\x{5A}\x{61}-\x{7A}\x{B5}\x{C0}-\x{D6}\x{D8}-\x{F6}\x{F8}-\x{1BA})"
    R"(\x{1BC}-\x{1BF}\x{1C4}-\x{293}\x{295}-\x{2AF}\x{370}-\x{373}\x{376}-\x{377})"
    R"(\x{37B}-\x{37D}\x{37F}\x{386}\x{388}-\x{38A}\x{38C}\x{38E}-\x{3A1}\x{3A3}-\x{3F5})"
    R"(\x{3F7}-\x{481}\x{48A}-\x{52F}\x{531}-\x{556}\x{10A0}-\x{10C5}\x{13A0}-\x{13F5})"
    R"(\x{13F8}-\x{13FD}\x{1C90}-\x{1CBA}\x{1CBD}-\x{1CBF}\x{1D00}-\x{1D2B})"
    R"(\x{1D6B}-\x{1D77}\x{1D79}-\x{1D9A}\x{1E00}-\x{1F15}\x{1F18}-\x{1F1D})"
    R"(\x{1F20}-\x{1F45}\x{1F48}-\x{1F4D}\x{1F50}-\x{1F57}\x{1F59}\x{1F5B}\x{1F5D})"
    R"(\x{1F5F}-\x{1F7D}\x{1F80}-\x{1FB4}\x{1FB6}-\x{1FBC}\x{1FBE}\x{1FC2}-\x{1FC4})"
    R"(\x{1FC6}-\x{1FCC}\x{1FD0}-\x{1FD3}\x{1FD6}-\x{1FDB}\x{1FE0}-\x{1FEC})"
    R"(\x{1FF2}-\x{1FF4}\x{1FF6}-\x{1FFC}\x{2102}\x{2107}\x{210A}-\x{2113}\x{2115})"
    R"(\x{2119}-\x{211D}\x{2124}\x{2126}\x{2128}\x{212A}-\x{212D}\x{212F}-\x{2134}\x{2139})"
    R"(\x{213C}-\x{213F}\x{2145}-\x{2149}\x{214E}\x{2183}-\x{2184}\x{2C00}-\x{2C7B})"
    R"(\x{2C7E}-\x{2CE4}\x{2CEB}-\x{2CEE}\x{2CF2}-\x{2CF3}\x{A640}-\x{A66D})"
    R"(\x{A680}-\x{A69B}\x{A722}-\x{A76F}\x{A771}-\x{A787}\x{A78B}-\x{A78E})"
    R"(\x{AB70}-\x{ABBF}\x{FB00}-\x{FB06}\x{FB13}-\x{FB17}\x{FF21}-\x{FF3A})"
    R"(\x{FF41}-\x{FF5A}\x{10400}-\x{1044F}\x{104B0}-\x{104D3}\x{104D8}-\x{104FB})"
    R"(\x{10C80}-\x{10CB2}\x{10CC0}-\x{10CF2}\x{118A0}-\x{118DF}\x{1E900}-\x{1E943}]+)";

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
  const std::string cased[2] = {start + large + "*" + small + "+",
                                start + large + "+" + small + "*"};
  const std::string slashed = R"(| ?[^\s\p{L}\p{N}]+[\r\n/]*)" + spaces;
  const std::string deepseek3 =
      R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+)"
      R"(| ?[\p{P}\p{S}]+[\r\n]*)" +
      spaces;
  const std::string east_asian = R"([\x{800}-\x{9FA5}\x{AC00}-\x{D7FF}]+)", digit = R"(\p{N})",
                    digits = R"(\p{N}+)";
  const std::string three_ascii = "[0-9][0-9][0-9]";
  const std::string between_marks =
      R"( ?[^(\s|.,!?\x{2026}\x{3002}\x{FF0C}\x{3001}\x{964}\x{6D4}\x{60C})]+)";
  return {
      {.names = {"gpt-2", "phi-2", "jina-es", "jina-de", "jina-v2-es", "jina-v2-de", "gigachat",
                 "a.x-4.0", "mellum", "modern-bert", "mpt", "olmo", "jais", "exaone4", "trillion",
                 "granite-docling", "roberta-bpe", "jina-v1-en", "jina-v2-code"},
       .patterns = {gpt2}},
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
       .patterns =
           {"[\r\n]", R"(\s?)" + std::string(kCasedLetters),
            R"(\s?[!-/:-~\x{FF01}-\x{FF0F}\x{FF1A}-\x{FF5E}\x{2018}-\x{201F}\x{3000}-\x{3002}]+)",
            R"(\s+$)", east_asian, digits}},
      {.names = {"deepseek-coder"},
       .patterns = {"[\r\n]", R"(\s?\p{L}+)", R"(\s?\p{P}+)", east_asian, digit}},
      {.names = {"deepseek-v3", "hunyuan-dense", "joyai-llm"},
       .patterns = {R"(\p{N}{1,3})", R"([\x{4E00}-\x{9FA5}\x{3040}-\x{30FF}]+)", deepseek3}},
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
    return {sequence_of(known.patterns), known.ignores_merges, known.adds_bos};
  }
  std::string names;
  for (const KnownPreTokenizer& known : table) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", known.names.front());
  }
  fail(ErrorKind::kUnsupported,
       "{}: cuts words as '{}' does (tokenizer.ggml.pre), which fovea does not know; it knows {} "
       "and "
       "their like: put the model's tokenizer.json beside the file",
       source, name, names);
}

}  // namespace fovea
