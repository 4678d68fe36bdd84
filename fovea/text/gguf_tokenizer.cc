// Tokenizers out of GGUF files: three kinds of vocabulary, and the tokens around a text.
#include <limits>
#include <string>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/text/gguf_pre_tokenizer.h"
#include "fovea/text/gguf_vocabulary.h"
#include "fovea/text/json_fields.h"
#include "fovea/text/tokenizer.h"
#include "fovea/text/tokenizer_parts.h"

namespace fovea {
namespace {

enum TokenType : int64_t { kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4 };

// What is the same for all kinds.
class GgufReader {
 public:
  GgufReader(const GgufVocabulary& gguf, std::string_view source) : gguf_(gguf), source_(source) {
    if (gguf.tokens.empty()) fail(ErrorKind::kBadFile, "{}: its vocabulary is empty", source);
    for (size_t id = 0; id < gguf.tokens.size(); ++id) {
      if (!is_valid_utf8(gguf.tokens[id])) {
        fail(ErrorKind::kBadFile, "{}: token {} is not valid UTF-8", source, id);
      }
      if (gguf.tokens[id].empty()) {
        fail(ErrorKind::kBadFile, "{}: its vocabulary has a hole: token {} has no text", source,
             id);
      }
    }
  }

  int64_t type(size_t id) const {
    return id < gguf_.token_types.size() ? gguf_.token_types[id] : int64_t{kNormal};
  }

  // Whether the token is cut out of a text before all else.
  bool is_added(size_t id) const {
    const int64_t kind = type(id);
    return kind == kControl || kind == kUserDefined || kind == kUnknown;
  }
  Json added_tokens() const {
    Json added = Json::array();
    for (size_t id = 0; id < gguf_.tokens.size(); ++id) {
      if (!is_added(id)) continue;
      added.push_back(object_of({{"content", gguf_.tokens[id]},
                                 {"special", type(id) != kUserDefined},
                                 {"normalized", false}}));
    }
    return added;
  }

  std::optional<int32_t> id(const std::optional<int64_t>& given) const {
    if (!given || *given < 0 || static_cast<size_t>(*given) >= gguf_.tokens.size()) return {};
    return static_cast<int32_t>(*given);
  }
  std::optional<int32_t> id(const std::optional<int64_t>& given, int64_t otherwise) const {
    return id(given ? given : std::optional(otherwise));
  }

  // As a post-processor puts it; throws Error{kBadFile} if there is none.
  Surroundings::Token around(const std::optional<int32_t>& id) const {
    if (!id) {
      fail(ErrorKind::kBadFile, "{}: asks for a token at the start or end but names none", source_);
    }
    return {std::string(gguf_.tokens[static_cast<size_t>(*id)]), *id};
  }

  // The tokenizer with its roles: "bos_token" and the like.
  Tokenizer finish(std::shared_ptr<const TokenModel> model, const Json& rest,
                   const Surroundings& surroundings,
                   std::vector<std::pair<const char*, std::optional<int32_t>>> roles) const {
    Tokenizer::Parts parts = make_tokenizer(std::move(model), rest, source_).parts();
    if (!surroundings.before.empty() || !surroundings.after.empty()) {
      parts.post_processor = make_surrounding(surroundings);
    }
    for (const auto& [role, token] : roles) {
      if (token) parts.roles[role] = *token;
    }
    return make_tokenizer(std::move(parts));
  }

  const GgufVocabulary& file() const { return gguf_; }
  std::string_view source() const { return source_; }

 private:
  const GgufVocabulary& gguf_;
  std::string_view source_;
};

ModelTables tables_of(const GgufVocabulary& gguf) {
  std::vector<VocabularyEntry> entries;
  entries.reserve(gguf.tokens.size());
  for (const std::string_view token : gguf.tokens) {
    entries.push_back({token, static_cast<int64_t>(entries.size())});
  }
  ModelTables tables;
  tables.vocabulary.add_all(entries);
  return tables;
}

// <bos> text <eos>, and both again around a second text.
Surroundings texts_within(const GgufReader& file, bool add_bos, bool add_eos,
                          const std::optional<int32_t>& bos, const std::optional<int32_t>& eos) {
  Surroundings tokens;
  if (add_bos) tokens.before.push_back(file.around(bos));
  if (add_eos) tokens.between.push_back(file.around(eos));
  if (add_bos) tokens.between.push_back(file.around(bos));
  if (add_eos) tokens.after.push_back(file.around(eos));
  return tokens;
}

// "gpt2": byte-level BPE.
Tokenizer byte_level_tokenizer(const GgufReader& file) {
  const GgufVocabulary& gguf = file.file();
  const GgufPreTokenizer pre = gguf_pre_tokenizer(gguf.pre, file.source());
  ModelTables tables = tables_of(gguf);
  tables.merges.reserve(gguf.merges.size());
  for (const std::string_view merge : gguf.merges) {
    // A token may itself begin with a space, so the first character does not count.
    const size_t space = merge.find(' ', 1);
    if (merge.empty() || space == merge.npos || !is_valid_utf8(merge)) {
      fail(ErrorKind::kBadFile, "{}: the merge '{}' is not two tokens with a space between",
           file.source(), merge);
    }
    tables.merges.emplace_back(merge.substr(0, space), merge.substr(space + 1));
  }
  const Json rest = object_of({{"pre_tokenizer", pre.json},
                               {"decoder", object_of({{"type", "ByteLevel"}})},
                               {"added_tokens", file.added_tokens()}});
  BpeOptions options;
  options.ignore_merges = pre.ignores_merges;
  const auto bos = file.id(gguf.bos), eos = file.id(gguf.eos);
  return file.finish(
      make_bpe(std::move(tables), options, file.source()), rest,
      texts_within(file, gguf.add_bos.value_or(pre.adds_bos), gguf.add_eos.value_or(false), bos,
                   eos),
      {{"bos_token", bos}, {"eos_token", eos}, {"pad_token", file.id(gguf.padding)}});
}

// "llama": pieces with scores, spaces written as "▁".
Tokenizer scored_piece_tokenizer(const GgufReader& file) {
  const GgufVocabulary& gguf = file.file();
  if (gguf.scores.size() != gguf.tokens.size()) {
    fail(ErrorKind::kBadFile, "{}: its vocabulary has {} pieces but {} scores; convert it again",
         file.source(), gguf.tokens.size(), gguf.scores.size());
  }
  ModelTables tables = tables_of(gguf);
  tables.scores.assign(gguf.scores.begin(), gguf.scores.end());
  const bool prefix = gguf.add_space_prefix.value_or(true);
  const auto replace = [](std::string_view from, std::string_view to) {
    return object_of(
        {{"type", "Replace"}, {"pattern", object_of({{"String", from}})}, {"content", to}});
  };
  constexpr std::string_view kMark = "\u2581";
  Json normalizers = Json::array(), decoders = Json::array();
  if (prefix) normalizers.push_back(object_of({{"type", "Prepend"}, {"prepend", kMark}}));
  normalizers.push_back(replace(" ", kMark));
  decoders.push_back(replace(kMark, " "));
  decoders.push_back(object_of({{"type", "ByteFallback"}}));
  decoders.push_back(object_of({{"type", "Fuse"}}));
  if (prefix) {
    decoders.push_back(object_of({{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}}));
  }
  const Json rest =
      object_of({{"normalizer", object_of({{"type", "Sequence"}, {"normalizers", normalizers}})},
                 {"decoder", object_of({{"type", "Sequence"}, {"decoders", decoders}})},
                 {"added_tokens", file.added_tokens()}});
  const auto bos = file.id(gguf.bos, 1), eos = file.id(gguf.eos, 2),
             unknown = file.id(gguf.unknown, 0);
  return file.finish(
      make_scored_pieces(std::move(tables), unknown), rest,
      texts_within(file, gguf.add_bos.value_or(true), gguf.add_eos.value_or(false), bos, eos),
      {{"bos_token", bos},
       {"eos_token", eos},
       {"unk_token", unknown},
       {"pad_token", file.id(gguf.padding)}});
}

// BERT's own spelling of a token: in the file the beginnings of words have a "▁", not their
// continuations a "##". Added tokens are written as they are.
std::string word_piece_text(std::string_view token, bool added) {
  constexpr std::string_view kMark = "\u2581";
  if (added) return std::string(token);
  if (token.starts_with(kMark)) return std::string(token.substr(kMark.size()));
  if (token.starts_with('[') && token.ends_with(']') && token.size() > 2) return std::string(token);
  return "##" + std::string(token);
}

// "bert": WordPiece.
Tokenizer word_piece_tokenizer(const GgufReader& file) {
  const GgufVocabulary& gguf = file.file();
  Vocabulary words;
  for (size_t id = 0; id < gguf.tokens.size(); ++id) {
    words.add(word_piece_text(gguf.tokens[id], file.is_added(id)), static_cast<int64_t>(id));
  }
  const auto cls = file.id(gguf.cls ? gguf.cls : gguf.bos, 101);
  const auto separator = file.id(gguf.separator ? gguf.separator : gguf.eos, 102);
  const auto unknown = file.id(gguf.unknown, 100), padding = file.id(gguf.padding, 0);
  const auto mask = gguf.mask ? file.id(gguf.mask) : words.find("[MASK]");
  if (!unknown) {
    fail(ErrorKind::kBadFile, "{}: its vocabulary of {} pieces has no unknown token", file.source(),
         gguf.tokens.size());
  }
  Json added = file.added_tokens();
  for (const auto& id : {padding, unknown, cls, separator, mask}) {
    if (!id || file.is_added(static_cast<size_t>(*id))) continue;
    added.push_back(
        object_of({{"content", words.token(*id)}, {"special", true}, {"normalized", false}}));
  }
  const Json rest = object_of({{"normalizer", object_of({{"type", "BertNormalizer"},
                                                         {"clean_text", true},
                                                         {"handle_chinese_chars", true},
                                                         {"strip_accents", true},
                                                         {"lowercase", true}})},
                               {"pre_tokenizer", object_of({{"type", "BertPreTokenizer"}})},
                               {"decoder", object_of({{"type", "WordPiece"}})},
                               {"added_tokens", added}});
  Surroundings tokens;
  const auto token = [&](const std::optional<int32_t>& id) -> Surroundings::Token {
    if (!id) file.around(id);  // says so
    return {std::string(words.token(*id)), *id};
  };
  if (gguf.add_bos.value_or(true)) tokens.before.push_back(token(cls));
  if (gguf.add_separator.value_or(true)) {
    tokens.between.push_back(token(separator));
    tokens.after.push_back(token(separator));
  }
  const std::string unknown_text(words.token(*unknown));
  return file.finish(
      make_word_piece(std::move(words), unknown_text, "##", std::numeric_limits<size_t>::max()),
      rest, tokens,
      {{"cls_token", cls},
       {"sep_token", separator},
       {"unk_token", unknown},
       {"pad_token", padding},
       {"mask_token", mask}});
}

}  // namespace

Tokenizer Tokenizer::from_gguf(const GgufVocabulary& gguf, std::string_view source) {
  const GgufReader file(gguf, source);
  if (gguf.kind == "gpt2") return byte_level_tokenizer(file);
  if (gguf.kind == "llama") return scored_piece_tokenizer(file);
  if (gguf.kind == "bert") return word_piece_tokenizer(file);
  fail(ErrorKind::kUnsupported,
       "{}: its tokenizer is of the kind '{}'; of those within GGUF files fovea reads gpt2, llama "
       "and bert: put the model's tokenizer.json beside the file",
       source, gguf.kind);
}

}  // namespace fovea
