#include "fovea/text/sentence_piece_folders.h"

#include <fmt/format.h>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/text/json_fields.h"
#include "fovea/text/sentence_piece.h"
#include "fovea/text/tokenizer_json.h"
#include "fovea/text/tokenizer_parts.h"

namespace fovea {
namespace {

constexpr char32_t kSpaceMark = 0x2581;

AddedToken special(std::string content, bool lstrip = false) {
  AddedToken token;
  token.content = std::move(content);
  token.special = true;
  token.lstrip = lstrip;
  token.normalized = false;
  return token;
}

// How the folders differ.
struct Form {
  std::shared_ptr<const SentencePiece> pieces;
  Vocabulary vocabulary;
  std::vector<AddedToken> added;
  std::string unknown = "<unk>";
  bool takes_language_codes = false;
  std::string after_special;
  std::string end = "</s>";
};

Tokenizer make_from(Form form, std::vector<std::string> before, std::vector<std::string> between,
                    std::string_view where) {
  const auto named = [&](const std::string& name) {
    const auto id = form.vocabulary.find(name);
    if (!id) fail(ErrorKind::kBadFile, "{}: the vocabulary lacks '{}'", where, name);
    return Surroundings::Token{name, *id};
  };
  Surroundings around;
  for (const std::string& name : before) around.before.push_back(named(name));
  for (const std::string& name : between) around.between.push_back(named(name));
  around.after.push_back(named(form.end));
  const int32_t unknown = named(form.unknown).id;

  Tokenizer::Parts parts;
  std::vector<std::string> apart;
  for (const AddedToken& token : form.added) apart.push_back(token.content);
  parts.decoder = make_sentence_piece_decoder(form.pieces, apart, form.after_special);
  parts.model = make_sentence_piece_model(form.pieces, std::move(form.vocabulary),
                                          {unknown, form.takes_language_codes});
  parts.post_processor = make_surrounding(around);
  parts.added.add(std::move(form.added), *parts.model, nullptr);
  parts.space_mark = kSpaceMark;
  return make_tokenizer(std::move(parts));
}

std::string role_of(const Json& config, std::string_view role, std::string_view missing) {
  const Json* json = config.find(role);
  if (json == nullptr || json->is_null()) return std::string(missing);
  if (json->is_object()) return string_field(*json, "content", missing, role);
  return json->as_string(role);
}

// additional_special_tokens of the folder's files, texts or objects with "content".
std::vector<std::string> additional_tokens(const std::filesystem::path& folder,
                                           const Json& config) {
  std::vector<std::string> names;
  const auto read = [&](const Json& json) {
    for (const char* key : {"additional_special_tokens", "extra_special_tokens"}) {
      const Json* list = json.find(key);
      if (list == nullptr || !list->is_array() || !names.empty()) continue;
      for (const Json& token : list->as_array(key)) {
        names.push_back(token.is_object() ? string_field(token, "content", key)
                                          : token.as_string(key));
      }
    }
  };
  read(config);
  if (names.empty() && has_file(folder, "special_tokens_map.json")) {
    const auto path = folder / "special_tokens_map.json";
    read(Json::parse(read_text_file(path), path.string()));
  }
  return names;
}

// Ids straight from the file, then <extra_id_99> to <extra_id_0>.
Tokenizer open_t5(const std::filesystem::path& path, const Json& config) {
  const std::string where = path.string();
  Form form;
  form.pieces = SentencePiece::open(path);
  int64_t next = 0;
  for (int32_t id = 0; id < form.pieces->size(); ++id) {
    form.vocabulary.add(form.pieces->piece(id), next++);
  }
  form.unknown = form.pieces->piece(form.pieces->unknown_id());
  for (const char* role : {"pad_token", "eos_token", "unk_token"}) {
    const std::string name = role_of(config, role, "");
    if (form.vocabulary.find(name)) form.added.push_back(special(name));
  }
  for (const std::string name : {"<pad>", "</s>", "<unk>"}) {
    if (form.vocabulary.find(name)) form.added.push_back(special(name));
  }
  const int64_t extra = int_field(config, "extra_ids", 100, where);
  if (extra < 0 || extra > kLargestTokenId) {
    fail(ErrorKind::kBadFile, "{}: tokenizer_config.json has {} extra_ids", where, extra);
  }
  for (int64_t i = extra; i-- > 0;) {
    const std::string name = fmt::format("<extra_id_{}>", i);
    form.vocabulary.add(name, next++);
    form.added.push_back(special(name));
  }
  return make_from(std::move(form), {}, {"</s>"}, where);
}

// DeBERTa's later versions: ids straight from the file, whose first pieces are [PAD] [CLS] [SEP]
// [UNK], then [MASK].
Tokenizer open_deberta(const std::filesystem::path& path, const Json& config) {
  const std::string where = path.string();
  if (bool_field(config, "do_lower_case", false, where) ||
      bool_field(config, "split_by_punct", false, where)) {
    fail(ErrorKind::kUnsupported,
         "{}: tokenizer_config.json asks for lower case or for words split at punctuation; put the "
         "model's tokenizer.json beside it",
         where);
  }
  Form form;
  form.pieces = SentencePiece::open(path);
  int64_t next = 0;
  for (int32_t id = 0; id < form.pieces->size(); ++id) {
    form.vocabulary.add(form.pieces->piece(id), next++);
  }
  form.unknown = form.pieces->piece(form.pieces->unknown_id());
  form.end = "[SEP]";
  if (!form.vocabulary.find("[MASK]")) form.vocabulary.add("[MASK]", next);
  for (const std::string name : {"[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]"}) {
    if (form.vocabulary.find(name)) form.added.push_back(special(name));
  }
  return make_from(std::move(form), {"[CLS]"}, {"[SEP]"}, where);
}

// Fairseq's ids: <s> <pad> </s> <unk>, the file's pieces from its fourth on, languages, <mask>.
Tokenizer open_fairseq(const std::filesystem::path& path, std::string_view family,
                       const std::vector<std::string>& languages) {
  constexpr int32_t kOwn = 3;  // <unk> <s> </s>, which the file puts first
  const std::string where = path.string();
  Form form;
  form.pieces = SentencePiece::open(path);
  if (form.pieces->size() <= kOwn || form.pieces->unknown_id() != 0) {
    fail(ErrorKind::kBadFile, "{}: should begin with <unk>, <s> and </s>, but piece {} is unknown",
         where, form.pieces->unknown_id());
  }
  int64_t next = 0;
  for (const std::string name : {"<s>", "<pad>", "</s>", "<unk>"}) {
    form.vocabulary.add(name, next++);
    form.added.push_back(special(name));
  }
  for (int32_t id = kOwn; id < form.pieces->size(); ++id) {
    form.vocabulary.add(form.pieces->piece(id), next++);
  }
  for (const std::string& name : languages) {
    form.vocabulary.add(name, next++);
    form.added.push_back(special(name));
  }
  form.vocabulary.add("<mask>", next);
  form.added.push_back(special("<mask>", true));
  if (family == "XLMRoberta") {
    return make_from(std::move(form), {"<s>"}, {"</s>", "</s>"}, where);
  }
  return make_from(std::move(form), {}, {}, where);
}

// Ids from vocab.json, then the languages.
Tokenizer open_m2m100(const std::filesystem::path& folder, const Json& config) {
  const auto path = folder / "vocab.json";
  Form form;
  form.pieces = SentencePiece::open(folder / "sentencepiece.bpe.model");
  form.vocabulary = read_vocab_json(read_text_file(path), path.string());
  for (const std::string name : {"<s>", "<pad>", "</s>", "<unk>"}) {
    if (form.vocabulary.find(name)) form.added.push_back(special(name));
  }
  auto next = static_cast<int64_t>(form.vocabulary.size());
  for (const std::string& code : known_languages("M2M100", config)) {
    const std::string name = "__" + code + "__";
    form.vocabulary.add(name, next++);
    form.added.push_back(special(name));
  }
  return make_from(std::move(form), {}, {}, path.string());
}

}  // namespace

bool has_file(const std::filesystem::path& folder, const char* name) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(folder / name, ignored);
}

bool is_marian_folder(const std::filesystem::path& folder) {
  return has_file(folder, "source.spm") || has_file(folder, "target.spm");
}

Tokenizer open_marian(const std::filesystem::path& folder, const Json& config, TextSide side) {
  const std::string config_path = (folder / "tokenizer_config.json").string();
  for (const char* name : {"source.spm", "target.spm", "vocab.json"}) {
    if (!has_file(folder, name)) {
      fail(ErrorKind::kNotFound,
           "{}: has no {}, which belongs to source.spm, target.spm and vocab.json of a Marian "
           "model; "
           "put it there",
           folder.string(), name);
    }
  }
  const bool target = side == TextSide::kTarget;
  const bool separate = bool_field(config, "separate_vocabs", false, config_path);
  const auto path = folder / (target && separate ? "target_vocab.json" : "vocab.json");
  Form form;
  form.pieces = SentencePiece::open(folder / (target ? "target.spm" : "source.spm"));
  form.vocabulary = read_vocab_json(read_text_file(path), path.string());
  form.unknown = role_of(config, "unk_token", "<unk>");
  form.takes_language_codes = true;
  form.after_special = " ";
  for (const std::string& name : {form.unknown, role_of(config, "eos_token", "</s>"),
                                  role_of(config, "pad_token", "<pad>")}) {
    form.added.push_back(special(name));
  }
  Tokenizer tokenizer = make_from(std::move(form), {}, {}, path.string());
  if (target) return tokenizer;
  return with_languages_of(tokenizer, "Marian", config, config_path);
}

std::optional<Tokenizer> open_sentence_piece(const std::filesystem::path& folder,
                                             std::string_view family, const Json& config) {
  if (has_file(folder, "sentencepiece.bpe.model")) {
    const auto path = folder / "sentencepiece.bpe.model";
    if (has_file(folder, "vocab.json") && (family == "M2M100" || family.empty())) {
      return open_m2m100(folder, config);
    }
    if (family == "XLMRoberta") return open_fairseq(path, family, {});
    const std::vector<std::string> languages =
        family == "Nllb" ? additional_tokens(folder, config) : known_languages(family, config);
    if (!languages.empty()) return open_fairseq(path, family, languages);
    fail(ErrorKind::kUnsupported,
         "{}: how '{}' numbers these pieces is not known (MBart, MBart50, Nllb with its languages, "
         "M2M100 with vocab.json and XLMRoberta are); put the model's tokenizer.json beside it",
         path.string(), family);
  }
  if (has_file(folder, "spiece.model")) {
    const auto path = folder / "spiece.model";
    if (family == "T5" || family == "MT5" || family.empty()) return open_t5(path, config);
    fail(ErrorKind::kUnsupported,
         "{}: how '{}' numbers these pieces is not known (T5 and MT5 are); put the model's "
         "tokenizer.json beside it",
         path.string(), family);
  }
  if (has_file(folder, "spm.model") && (family == "DebertaV2" || family.empty())) {
    return open_deberta(folder / "spm.model", config);
  }
  return std::nullopt;
}

}  // namespace fovea
