// Tokenizing English text, one thread; the tokenizers are made here, so no file is needed.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "bench/report.h"
#include "fovea/text/byte_level.h"
#include "fovea/text/tokenizer.h"
#include "fovea/text/unicode.h"

namespace fovea {
namespace {

// English-like words, common ones often.
std::string sample_text(size_t bytes) {
  static constexpr std::string_view kStems[] = {
      "the",  "of",    "attention", "is",     "a",     "transformer", "to",    "and",  "in",
      "look", "model", "language",  "matrix", "token", "economic",    "agree", "sign", "was"};
  static constexpr std::string_view kEndings[] = {"",   "",     "",   "s", "ing",
                                                  "ed", "ment", "al", ",", "."};
  std::string text;
  uint64_t state = 88172645463325252U;
  while (text.size() < bytes) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    text += kStems[(state >> 33U) % std::size(kStems)];
    text += kEndings[(state >> 45U) % std::size(kEndings)];
    if ((state >> 55U) % 16 == 0) text += fmt::format(" {}", (state >> 20U) % 2026);
    text += ' ';
  }
  return text;
}

Json word_piece_vocabulary() {
  Json vocabulary = Json::object();
  int id = 0;
  vocabulary.set("[UNK]", id++);
  for (char c = 33; c < 127; ++c) {
    vocabulary.set(std::string(1, c), id++);
    vocabulary.set("##" + std::string(1, c), id++);
  }
  for (const char* word : {"the", "of", "attention", "is", "transform", "##er", "##ing", "##ed"}) {
    if (vocabulary.find(word) == nullptr) vocabulary.set(word, id++);
  }
  return vocabulary;
}

std::string word_piece_json() {
  return R"({"normalizer":{"type":"BertNormalizer"},"pre_tokenizer":{"type":"BertPreTokenizer"},
    "model":{"type":"WordPiece","unk_token":"[UNK]","vocab":)" +
         word_piece_vocabulary().dump() + "}}";
}

std::string byte_level_json() {
  Json vocabulary = Json::object();
  int id = 0;
  for (const char32_t code : byte_characters()) {
    std::string token;
    append_utf8(token, code);
    vocabulary.set(token, id++);
  }
  Json merges = Json::array();
  for (const char* merge :
       {"t h", "th e", "Ġ the", "i n", "in g", "a t", "o n", "Ġ a", "e d", "Ġ o"}) {
    std::string joined = merge;
    joined.erase(std::remove(joined.begin(), joined.end(), ' '), joined.end());
    vocabulary.set(joined, id++);
    merges.push_back(merge);
  }
  return R"({"pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false},"decoder":{"type":"ByteLevel"},
    "model":{"type":"BPE","vocab":)" +
         vocabulary.dump() + R"(,"merges":)" + merges.dump() + "}}";
}

void run(benchmark::State& state, const std::string& json, const char* label) {
  const Tokenizer tokenizer = Tokenizer::from_json(json, "bench");
  const std::string text = sample_text(size_t{1} << 20U);
  const Encoding encoding = tokenizer.encode(text);
  require_close(state, encoding.offsets.back().end + 1.0, double(text.size()), 0,
                "the last token's end");
  for (auto _ : state) benchmark::DoNotOptimize(tokenizer.encode(text));
  state.SetBytesProcessed(int64_t(state.iterations()) * int64_t(text.size()));
  state.SetLabel(fmt::format("{}, 1 MiB", label));
}

void tokenize_word_piece(benchmark::State& state) {
  run(state, word_piece_json(), "WordPiece");
}
BENCHMARK(tokenize_word_piece)->UseRealTime();

void tokenize_byte_level(benchmark::State& state) {
  run(state, byte_level_json(), "byte-level BPE");
}
BENCHMARK(tokenize_byte_level)->UseRealTime();

// A tokenizer.json of 9 MB; 100,000 tokens and as many merges.
void open_tokenizer_json(benchmark::State& state) {
  std::string vocabulary;
  std::string merges;
  int id = 0;
  for (char c = 'a'; c <= 'z'; ++c) {
    vocabulary += fmt::format("{}\"{}\":{}", id > 0 ? "," : "", c, id);
    ++id;
  }
  std::vector<std::string> level{"a", "b", "c", "d"};
  std::map<std::string, int> seen;
  while (id < 200'000) {
    std::vector<std::string> next;
    for (const std::string& left : level) {
      for (char c = 'a'; c <= 'z' && id < 200'000; ++c) {
        const std::string joined = left + c;
        if (!seen.emplace(joined, id).second) continue;
        vocabulary += fmt::format(",\n      \"{}\": {}", joined, id);
        ++id;
        merges += fmt::format("{}\n      [\"{}\", \"{}\"]", merges.empty() ? "" : ",", left, c);
        next.push_back(joined);
      }
    }
    level = std::move(next);
  }
  const std::string json =
      R"({"model":{"type":"BPE","vocab":{)" + vocabulary + R"(},"merges":[)" + merges + "]}}";
  for (auto _ : state) benchmark::DoNotOptimize(Tokenizer::from_json(json, "bench").size());
  state.SetBytesProcessed(int64_t(state.iterations()) * int64_t(json.size()));
  state.SetLabel(fmt::format("{:.1f} MB, {} merges", double(json.size()) / 1e6, id - 26));
}
BENCHMARK(open_tokenizer_json)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace fovea
