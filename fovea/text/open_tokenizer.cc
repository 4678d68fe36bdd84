// Which files of a folder are its tokenizer.
#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/text/json_fields.h"
#include "fovea/text/languages.h"
#include "fovea/text/sentence_piece_folders.h"
#include "fovea/text/tokenizer.h"
#include "fovea/text/tokenizer_parts.h"

namespace fovea {
namespace {

struct ModelType {
  std::string_view model_type;  // of config.json
  std::string_view family;
};
constexpr ModelType kModelTypes[] = {
    {"mbart", "MBart"},
    {"m2m_100", "M2M100"},
    {"nllb-moe", "Nllb"},
    {"t5", "T5"},
    {"mt5", "MT5"},
    {"umt5", "T5"},
    {"longt5", "T5"},
    {"switch_transformers", "T5"},
    {"bart", "Bart"},
    {"whisper", "Whisper"},
    {"marian", "Marian"},
    {"xlm-roberta", "XLMRoberta"},
    {"deberta-v2", "DebertaV2"},
    {"esm", "Esm"},
    {"opt", "GPT2"},
};

Json read_json_if_there(const std::filesystem::path& path) {
  if (!file_exists(path)) return Json();
  return Json::parse(read_text_file(path), path.string());
}

// "MBart50TokenizerFast" is of the family "MBart50"; a class that fits any file tells nothing.
std::string family_of_class(const Json& config, std::string_view where) {
  std::string name = string_field(config, "tokenizer_class", "", where);
  for (const std::string_view ending : {"Fast", "Tokenizer"}) {
    if (name.ends_with(ending)) name.resize(name.size() - ending.size());
  }
  return name == "PreTrained" || name == "TokenizersBackend" ? "" : name;
}

// The family that tokenizer_config.json, or else config.json, names; empty if neither does.
std::string family_of(const std::filesystem::path& folder, const Json& config) {
  const std::string named = family_of_class(config, "tokenizer_config.json");
  if (!named.empty()) return named;
  const Json model = read_json_if_there(folder / "config.json");
  const std::string from_model = family_of_class(model, "config.json");
  if (!from_model.empty()) return from_model;
  const std::string type = string_field(model, "model_type", "", "config.json");
  for (const auto& [model_type, family] : kModelTypes) {
    if (type == model_type) return std::string(family);
  }
  return "";
}

// added_tokens.json: names and ids that vocab.json lacks. Times such as <|0.02|> are text.
Tokenizer with_added_tokens(const Tokenizer& tokenizer, const std::filesystem::path& path) {
  const Json json = read_json_if_there(path);
  if (json.is_null()) return tokenizer;
  Tokenizer::Parts parts = tokenizer.parts();
  std::vector<AddedToken> tokens;
  for (const auto& [content, id] : json.as_object(path.string())) {
    AddedToken token;
    token.content = content;
    token.special = content.starts_with('<') && content.find('.') == std::string::npos;
    token.normalized = false;
    const int64_t value = id.as_int(path.string());
    if (value < 0 || value > kLargestTokenId) {
      fail(ErrorKind::kBadFile, "{}: {} is no token id", path.string(), value);
    }
    token.id = static_cast<int32_t>(value);
    if (parts.added.by_content(content) == nullptr) tokens.push_back(std::move(token));
  }
  parts.added.add(std::move(tokens), *parts.model, parts.normalizer.get());
  return make_tokenizer(std::move(parts));
}

Tokenizer open_side(const std::filesystem::path& folder, TextSide side) {
  const auto config_path = folder / "tokenizer_config.json";
  const Json config = read_json_if_there(config_path);
  const std::string source = config_path.string();
  // Before tokenizer.json, which would have one side only.
  if (is_marian_folder(folder)) {
    return open_marian(folder, config, side).with_config(config, source);
  }
  const std::string family = family_of(folder, config);
  const auto finish = [&](const Tokenizer& tokenizer) {
    Tokenizer made =
        with_languages_of(tokenizer.with_config(config, source), family, config, source);
    return side == TextSide::kTarget ? with_target_language(made, config, source) : made;
  };
  if (has_file(folder, "tokenizer.json")) {
    return finish(Tokenizer::from_file(folder / "tokenizer.json"));
  }
  if (const auto made = open_sentence_piece(folder, family, config)) return finish(*made);
  if (has_file(folder, "vocab.txt")) {
    if (family == "Esm") return Tokenizer::from_esm_vocab(folder / "vocab.txt", config);
    return Tokenizer::from_vocab_txt(folder / "vocab.txt", config);
  }
  if (has_file(folder, "vocab.json") && has_file(folder, "merges.txt")) {
    const Tokenizer made =
        Tokenizer::from_vocab_and_merges(folder / "vocab.json", folder / "merges.txt", config);
    return finish(with_added_tokens(made, folder / "added_tokens.json"));
  }
  fail(ErrorKind::kNotFound,
       "{}: has no tokenizer.json, no SentencePiece files, no vocab.txt and no vocab.json with "
       "merges.txt; download one of them into it",
       folder.string());
}

}  // namespace

Tokenizer open_tokenizer(const std::filesystem::path& folder) {
  return open_side(folder, TextSide::kSource);
}

Tokenizer open_target_tokenizer(const std::filesystem::path& folder) {
  return open_side(folder, TextSide::kTarget);
}

}  // namespace fovea
