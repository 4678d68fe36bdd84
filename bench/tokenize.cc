// Tokenizing mixed text and opening large files, one thread; the tokenizers are made here, so no
// file is needed.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <set>
#include <string>
#include <vector>

#include "bench/report.h"
#include "fovea/text/byte_level.h"
#include "fovea/text/tokenizer.h"
#include "fovea/text/unicode.h"

namespace fovea {
namespace {

class Random {
 public:
  size_t below(size_t count) {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<size_t>(state_ >> 33U) % count;
  }

 private:
  uint64_t state_ = 88172645463325252U;
};

constexpr std::string_view kStems[] = {
    "the",   "of",    "attention", "is",   "a",        "transformer", "to",      "and",   "in",
    "look",  "model", "language",  "head", "matrix",   "token",       "agree",   "sign",  "was",
    "const", "self",  "return",    "size", "внимание", "модель",      "матрица", "слово", "注意力",
    "模型",  "矩陣",  "単語",      "主義", "الانتباه", "نموذج",       "ध्यान",    "शब्द",   "행렬"};
constexpr std::string_view kEndings[] = {"",  "",  "",   "s",   "ing",    "ed",  "ment",
                                         ",", ".", "()", ";\n", "\n\n# ", ": `", " 😀"};

// Markdown, code and many scripts, common words often.
std::string mixed_text(size_t bytes) {
  std::string text;
  Random random;
  while (text.size() < bytes) {
    text += kStems[random.below(std::size(kStems))];
    text += kEndings[random.below(std::size(kEndings))];
    if (random.below(16) == 0) text += fmt::format(" {}", random.below(2026));
    text += ' ';
  }
  return text;
}

std::string json_string(std::string_view text) {
  return Json(std::string(text)).dump();
}

// Tokens in the order of their ids.
class TokenList {
 public:
  void add(const std::string& token) {
    if (known_.insert(token).second) tokens_.push_back(token);
  }
  std::string as_map() const {
    std::string json;
    for (size_t id = 0; id < tokens_.size(); ++id) {
      json += fmt::format("{}\n      {}: {}", id > 0 ? "," : "", json_string(tokens_[id]), id);
    }
    return "{" + json + "}";
  }
  std::string with_scores() const {
    std::string json;
    for (size_t id = 0; id < tokens_.size(); ++id) {
      json += fmt::format("{}\n      [{}, {}]", id > 0 ? "," : "", json_string(tokens_[id]),
                          -5.0 - double(id) / 3e4);
    }
    return "[" + json + "]";
  }
  size_t size() const { return tokens_.size(); }
  const std::string& operator[](size_t id) const { return tokens_[id]; }

 private:
  std::vector<std::string> tokens_;
  std::set<std::string> known_;
};

// Tokens that grow by one character at a time, each with the merge that makes it.
struct MergeList {
  TokenList tokens;
  std::vector<std::pair<std::string, std::string>> merges;

  void add_word(std::string_view word) {
    std::string made;
    for (const char32_t code : decode_utf8(word)) {
      std::string symbol;
      append_utf8(symbol, code);
      tokens.add(symbol);
      const size_t before = tokens.size();
      tokens.add(made + symbol);
      if (tokens.size() > before) merges.emplace_back(made, symbol);
      made += symbol;
    }
  }
  std::string merges_json(bool pairs) const {
    std::string json;
    for (const auto& [left, right] : merges) {
      json += json.empty() ? "\n      " : ",\n      ";
      json += pairs ? fmt::format("[\n        {},\n        {}\n      ]", json_string(left),
                                  json_string(right))
                    : json_string(left + " " + right);
    }
    return "[" + json + "]";
  }
};

std::string byte_characters_of(std::string_view text) {
  std::string result;
  for (const char byte : text) {
    append_utf8(result, byte_characters()[static_cast<unsigned char>(byte)]);
  }
  return result;
}

std::string word_piece_json() {
  TokenList tokens;
  tokens.add("[UNK]");
  for (const std::string_view stem : kStems) {
    for (const char32_t code : decode_utf8(stem)) {
      std::string symbol;
      append_utf8(symbol, code);
      tokens.add(symbol);
      tokens.add("##" + symbol);
    }
    tokens.add(std::string(stem));
  }
  for (const std::string_view ending : kEndings) tokens.add("##" + std::string(ending));
  for (char c = 33; c < 127; ++c) tokens.add(std::string(1, c));
  for (char c = '0'; c <= '9'; ++c) tokens.add(std::string("##") + c);
  return R"({"normalizer":{"type":"BertNormalizer"},"pre_tokenizer":{"type":"BertPreTokenizer"},
    "model":{"type":"WordPiece","unk_token":"[UNK]","vocab":)" +
         tokens.as_map() + "}}";
}

std::string byte_level_json(std::string_view pre_tokenizer) {
  MergeList list;
  for (const char32_t code : byte_characters()) {
    std::string token;
    append_utf8(token, code);
    list.tokens.add(token);
  }
  for (const std::string_view stem : kStems) {
    list.add_word(byte_characters_of(" " + std::string(stem)));
  }
  return fmt::format(
      R"({{"pre_tokenizer":{},"decoder":{{"type":"ByteLevel"}},"model":{{"type":"BPE","vocab":{},"merges":{}}}}})",
      pre_tokenizer, list.tokens.as_map(), list.merges_json(false));
}

std::string gpt2_json() {
  return byte_level_json(R"({"type":"ByteLevel","add_prefix_space":false})");
}

std::string llama3_json() {
  return byte_level_json(R"({"type":"Sequence","pretokenizers":[
    {"type":"Split","behavior":"Isolated","invert":false,"pattern":{"Regex":
      "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"}},
    {"type":"ByteLevel","add_prefix_space":false,"use_regex":false}]})");
}

std::string llama2_json() {
  MergeList list;
  list.tokens.add("<unk>");
  for (size_t byte = 0; byte < 256; ++byte) list.tokens.add(fmt::format("<0x{:02X}>", byte));
  for (const std::string_view stem : kStems) list.add_word("▁" + std::string(stem));
  return fmt::format(
      R"({{"normalizer":{{"type":"Sequence","normalizers":[{{"type":"Prepend","prepend":"▁"}},
        {{"type":"Replace","pattern":{{"String":" "}},"content":"▁"}}]}},
        "model":{{"type":"BPE","unk_token":"<unk>","byte_fallback":true,"fuse_unk":true,"vocab":{},"merges":{}}}}})",
      list.tokens.as_map(), list.merges_json(true));
}

std::string unigram_json() {
  TokenList tokens;
  tokens.add("<unk>");
  tokens.add("▁");
  for (const std::string_view stem : kStems) {
    tokens.add("▁" + std::string(stem));
    for (const char32_t code : decode_utf8(stem)) {
      std::string symbol;
      append_utf8(symbol, code);
      tokens.add(symbol);
    }
  }
  for (const std::string_view ending : kEndings) tokens.add(std::string(ending));
  return R"({"normalizer":{"type":"NFKC"},"pre_tokenizer":{"type":"Metaspace"},
    "model":{"type":"Unigram","unk_id":0,"vocab":)" +
         tokens.with_scores() + "}}";
}

void tokenize(benchmark::State& state, std::string (*make_json)()) {
  const Tokenizer tokenizer = Tokenizer::from_json(make_json(), "bench");
  const std::string text = mixed_text(size_t{1} << 20U);
  const Encoding encoding = tokenizer.encode(text);
  require_close(state, encoding.offsets.back().end, double(text.size()), 4,
                "the last token's end");  // a space at the end may be no token
  for (auto _ : state) benchmark::DoNotOptimize(tokenizer.encode(text));
  state.SetBytesProcessed(int64_t(state.iterations()) * int64_t(text.size()));
  state.SetLabel(fmt::format("1 MiB, {} tokens", encoding.size()));
}

BENCHMARK_CAPTURE(tokenize, word_piece, &word_piece_json)->UseRealTime();
BENCHMARK_CAPTURE(tokenize, gpt2_bpe, &gpt2_json)->UseRealTime();
BENCHMARK_CAPTURE(tokenize, llama3_bpe, &llama3_json)->UseRealTime();
BENCHMARK_CAPTURE(tokenize, llama2_bpe, &llama2_json)->UseRealTime();
BENCHMARK_CAPTURE(tokenize, unigram, &unigram_json)->UseRealTime();

enum class Kind { kMergeStrings, kMergePairs, kUnigram, kWordPiece };

// A tokenizer.json of 9 MB, laid out as the library writes it.
std::string large_json(Kind kind) {
  constexpr size_t kBytes = 9'000'000;
  MergeList list;
  Random random;
  for (char c = 'a'; c <= 'z'; ++c) list.tokens.add(std::string(1, c));
  list.tokens.add("Ġ");
  size_t bytes = 0;
  while (bytes < kBytes) {
    const std::string left = list.tokens[random.below(list.tokens.size())];
    const std::string right(1, static_cast<char>('a' + random.below(26)));
    const size_t before = list.tokens.size();
    if (left.size() < 24) list.tokens.add(left + right);
    if (list.tokens.size() == before) continue;
    list.merges.emplace_back(left, right);
    bytes += left.size() + 1 + 19;  // "      \"…\": 123456,\n"
    if (kind == Kind::kMergeStrings) bytes += left.size() + 12;
    if (kind == Kind::kMergePairs) bytes += left.size() + 40;
    if (kind == Kind::kUnigram) bytes += 14;
  }
  if (kind == Kind::kUnigram) {
    return R"({"model":{"type":"Unigram","unk_id":0,"vocab":)" + list.tokens.with_scores() + "}}";
  }
  if (kind == Kind::kWordPiece) {
    return R"({"model":{"type":"WordPiece","vocab":)" + list.tokens.as_map() + "}}";
  }
  return R"({"model":{"type":"BPE","vocab":)" + list.tokens.as_map() + R"(,"merges":)" +
         list.merges_json(kind == Kind::kMergePairs) + "}}";
}

void open_tokenizer(benchmark::State& state, Kind kind) {
  const std::string json = large_json(kind);
  int32_t tokens = 0;
  for (auto _ : state)
    benchmark::DoNotOptimize(tokens = Tokenizer::from_json(json, "bench").size());
  state.SetBytesProcessed(int64_t(state.iterations()) * int64_t(json.size()));
  state.SetLabel(fmt::format("{:.1f} MB, {} tokens", double(json.size()) / 1e6, tokens));
}
BENCHMARK_CAPTURE(open_tokenizer, merge_strings, Kind::kMergeStrings)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(open_tokenizer, merge_pairs, Kind::kMergePairs)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(open_tokenizer, unigram, Kind::kUnigram)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(open_tokenizer, word_piece, Kind::kWordPiece)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace fovea
