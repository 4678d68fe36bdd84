// Tokenizers that come as vocabularies and merges, and what tokenizer_config.json adds.
#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/text/byte_level.h"
#include "fovea/text/json_fields.h"
#include "fovea/text/tokenizer.h"
#include "fovea/text/tokenizer_json.h"
#include "fovea/text/tokenizer_parts.h"
#include "fovea/text/unicode.h"

namespace fovea {
namespace {

constexpr std::string_view kRoles[] = {"bos_token", "eos_token", "unk_token", "sep_token",
                                       "pad_token", "cls_token", "mask_token"};

// A token in tokenizer_config.json is its text or an object with "content".
std::string token_name(const Json* json, std::string_view missing) {
  if (json == nullptr) return std::string(missing);
  if (json->is_string()) return json->as_string("token");
  const Json* content = json->find("content");
  return content != nullptr && content->is_string() ? content->as_string("token")
                                                    : std::string(missing);
}

Json special_token(std::string_view content, bool lstrip = false) {
  return object_of({{"content", content}, {"special", true}, {"lstrip", lstrip}});
}

Json special_pair(const std::string& token, const Vocabulary& vocabulary, std::string_view where) {
  const auto id = vocabulary.find(token);
  if (!id) fail(ErrorKind::kBadFile, "{}: the vocabulary lacks '{}'", where, token);
  Json pair = Json::array();
  pair.push_back(token);
  pair.push_back(int64_t{*id});
  return pair;
}

// A text between two tokens, either of which may be empty, and a pair: `before` stands in front of
// its second text too if there is no `after`.
Json surrounding_template(const std::string& before, const std::string& after,
                          const Vocabulary& vocabulary, std::string_view where) {
  Json single = Json::array(), pair = Json::array(), special = Json::object();
  const auto token = [&](Json& list, const std::string& name, int64_t type) {
    if (name.empty()) return;
    list.push_back(object_of({{"SpecialToken", object_of({{"id", name}, {"type_id", type}})}}));
  };
  const auto text = [](Json& list, const char* name, int64_t type) {
    list.push_back(object_of({{"Sequence", object_of({{"id", name}, {"type_id", type}})}}));
  };
  for (Json* list : {&single, &pair}) {
    token(*list, before, 0);
    text(*list, "A", 0);
    token(*list, after, 0);
  }
  if (after.empty()) token(pair, before, 0);
  text(pair, "B", 0);
  token(pair, after, 0);
  for (const std::string& name : {before, after}) {
    if (name.empty() || special.find(name) != nullptr) continue;
    const Json numbered = special_pair(name, vocabulary, where);
    const Json& id = numbered.as_array("token")[1];
    special.set(name, object_of({{"id", name},
                                 {"ids", Json(Json::Array{id})},
                                 {"tokens", Json(Json::Array{Json(name)})}}));
  }
  return object_of({{"type", "TemplateProcessing"},
                    {"single", single},
                    {"pair", pair},
                    {"special_tokens", special}});
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

ModelTables read_vocab_txt(const std::string& text, const std::string& where) {
  if (!is_valid_utf8(text)) fail(ErrorKind::kBadFile, "{}: not valid UTF-8", where);
  std::vector<VocabularyEntry> entries;
  for (std::string_view line : lines_of(text)) {
    while (!line.empty() && is_white_space(static_cast<unsigned char>(line.back()))) {
      line.remove_suffix(1);
    }
    entries.push_back({line, static_cast<int64_t>(entries.size())});
  }
  if (entries.empty()) fail(ErrorKind::kBadFile, "{}: the vocabulary is empty", where);
  ModelTables tables;
  tables.vocabulary.add_all(entries);
  return tables;
}

}  // namespace

Tokenizer Tokenizer::from_vocab_txt(const std::filesystem::path& path, const Json& config) {
  const std::string where = path.string();
  ModelTables tables = read_vocab_txt(read_text_file(path), where);
  const bool lower = bool_field(config, "do_lower_case", true, where);
  const std::string unknown = token_name(config.find("unk_token"), "[UNK]");
  const std::string cls = token_name(config.find("cls_token"), "[CLS]");
  const std::string sep = token_name(config.find("sep_token"), "[SEP]");
  Json added = Json::array();
  for (const std::string& name : {token_name(config.find("pad_token"), "[PAD]"), unknown, cls, sep,
                                  token_name(config.find("mask_token"), "[MASK]")}) {
    if (tables.vocabulary.find(name)) added.push_back(special_token(name));
  }
  Json normalizer = object_of(
      {{"type", "BertNormalizer"},
       {"clean_text", true},
       {"handle_chinese_chars", bool_field(config, "tokenize_chinese_chars", true, where)},
       {"strip_accents", bool_field(config, "strip_accents", lower, where)},
       {"lowercase", lower}});
  Json rest = object_of({{"normalizer", normalizer},
                         {"pre_tokenizer", object_of({{"type", "BertPreTokenizer"}})},
                         {"decoder", object_of({{"type", "WordPiece"}})},
                         {"added_tokens", added}});
  if (tables.vocabulary.find(cls) && tables.vocabulary.find(sep)) {
    rest.set("post_processor", object_of({{"type", "BertProcessing"},
                                          {"cls", special_pair(cls, tables.vocabulary, where)},
                                          {"sep", special_pair(sep, tables.vocabulary, where)}}));
  }
  auto model = make_word_piece(std::move(tables.vocabulary), unknown, "##", 100);
  return make_tokenizer(std::move(model), rest, where).with_config(config, where);
}

Tokenizer Tokenizer::from_esm_vocab(const std::filesystem::path& path, const Json& config) {
  const std::string where = path.string();
  ModelTables tables = read_vocab_txt(read_text_file(path), where);
  const std::string unknown = token_name(config.find("unk_token"), "<unk>");
  Json vocabulary = Json::object(), added = Json::array();
  for (size_t id = 0; id < tables.vocabulary.size(); ++id) {
    const std::string name(tables.vocabulary.token(static_cast<int32_t>(id)));
    vocabulary.set(name, id);
    Json token = special_token(name);
    token.set("special", name.starts_with('<'));
    token.set("id", id);
    added.push_back(std::move(token));
  }
  Json json = object_of(
      {{"model", object_of({{"type", "WordLevel"}, {"vocab", vocabulary}, {"unk_token", unknown}})},
       {"pre_tokenizer", object_of({{"type", "WhitespaceSplit"}})},
       {"added_tokens", added}});
  const std::string cls = token_name(config.find("cls_token"), "<cls>");
  const std::string eos = token_name(config.find("eos_token"), "<eos>");
  if (tables.vocabulary.find(cls) && tables.vocabulary.find(eos)) {
    json.set("post_processor", surrounding_template(cls, eos, tables.vocabulary, where));
  }
  return from_json(json.dump(), where).with_config(config, where);
}

Tokenizer Tokenizer::from_vocab_and_merges(const std::filesystem::path& vocab,
                                           const std::filesystem::path& merges,
                                           const Json& config) {
  const std::string where = vocab.string();
  ModelTables tables;
  tables.vocabulary = read_vocab_json(read_text_file(vocab), where);
  const std::string merge_text = read_text_file(merges);
  if (!is_valid_utf8(merge_text)) {
    fail(ErrorKind::kBadFile, "{}: not valid UTF-8", merges.string());
  }
  for (const std::string_view line : lines_of(merge_text)) {
    if (line.starts_with("#version") || line.empty()) continue;
    const size_t space = line.find(' ');
    if (space == std::string_view::npos || line.find(' ', space + 1) != std::string_view::npos) {
      fail(ErrorKind::kBadFile, "{}: the line '{}' is not two tokens with one space between",
           merges.string(), line);
    }
    tables.merges.emplace_back(line.substr(0, space), line.substr(space + 1));
  }
  const std::string kind = string_field(config, "tokenizer_class", "", where);
  const bool roberta = kind.find("GPT") == std::string::npos && tables.vocabulary.find("<s>") &&
                       tables.vocabulary.find("</s>");
  const bool space = bool_field(config, "add_prefix_space", false, where);
  Json added = Json::array();
  for (const std::string_view name : {"<s>", "<pad>", "</s>", "<unk>", "<mask>", "<|endoftext|>"}) {
    if (tables.vocabulary.find(name)) added.push_back(special_token(name, name == "<mask>"));
  }
  Json rest =
      object_of({{"pre_tokenizer", object_of({{"type", "ByteLevel"}, {"add_prefix_space", space}})},
                 {"decoder", object_of({{"type", "ByteLevel"}})},
                 {"added_tokens", added}});
  Json post = object_of({{"type", roberta ? "RobertaProcessing" : "ByteLevel"},
                         {"add_prefix_space", space},
                         {"trim_offsets", roberta}});
  if (roberta) {
    post.set("cls", special_pair("<s>", tables.vocabulary, where));
    post.set("sep", special_pair("</s>", tables.vocabulary, where));
  }
  rest.set("post_processor", post);
  // OPT's files say that a text begins with a token.
  const std::string first = token_name(config.find("bos_token"), "");
  if (!roberta && bool_field(config, "add_bos_token", false, where) && !first.empty()) {
    rest.set("post_processor", surrounding_template(first, "", tables.vocabulary, where));
  }
  auto model = make_bpe(std::move(tables), BpeOptions{}, where);
  return make_tokenizer(std::move(model), rest, where).with_config(config, where);
}

Tokenizer Tokenizer::with_config(const Json& config, std::string_view source) const {
  if (config.is_null()) return *this;
  Parts parts = *parts_;
  std::vector<std::pair<int64_t, AddedToken>> missing;
  const Json* decoder = config.find("added_tokens_decoder");
  if (decoder != nullptr && decoder->is_object()) {
    for (const auto& [id, token] : decoder->as_object(source)) {
      AddedToken added = parse_added_token(token, source);
      if (parts.added.by_content(added.content) != nullptr) continue;
      missing.emplace_back(std::strtoll(id.c_str(), nullptr, 10), std::move(added));
    }
  }
  std::sort(missing.begin(), missing.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<AddedToken> tokens;
  for (auto& [id, token] : missing) tokens.push_back(std::move(token));
  if (!tokens.empty()) parts.added.add(std::move(tokens), *parts.model, parts.normalizer.get());
  Tokenizer result = make_tokenizer(std::move(parts));
  Parts with_roles = *result.parts_;
  for (const std::string_view role : kRoles) {
    const std::string name = token_name(config.find(role), "");
    if (name.empty()) continue;
    if (const auto id = result.find(name)) with_roles.roles[std::string(role)] = *id;
  }
  return make_tokenizer(std::move(with_roles));
}

}  // namespace fovea
