#include "fovea/text/token_model.h"

#include <fmt/format.h>

#include "fovea/base/error.h"
#include "fovea/text/json_fields.h"

namespace fovea {
namespace {

// Older files have no "type"; what else is there tells.
std::string type_of(const Json& json, const ModelTables& tables, std::string_view where) {
  if (json.find("type") != nullptr) return string_field(json, "type", where);
  if (!tables.scores.empty()) return "Unigram";
  if (json.find("merges") != nullptr) return "BPE";
  return json.find("continuing_subword_prefix") != nullptr ? "WordPiece" : "WordLevel";
}

std::shared_ptr<const TokenModel> make_bpe_from(const Json& json, ModelTables tables,
                                                std::string_view where) {
  const Json* dropout = json.find("dropout");
  if (dropout != nullptr && !dropout->is_null() && dropout->as_double(where) > 0) {
    fail(ErrorKind::kUnsupported,
         "{}: BPE with dropout {} gives other tokens each time; set dropout to null", where,
         dropout->as_double(where));
  }
  BpeOptions options;
  options.unknown = string_field(json, "unk_token", "", where);
  options.continuing_prefix = string_field(json, "continuing_subword_prefix", "", where);
  options.word_suffix = string_field(json, "end_of_word_suffix", "", where);
  options.fuse_unknown = bool_field(json, "fuse_unk", false, where);
  options.byte_fallback = bool_field(json, "byte_fallback", false, where);
  options.ignore_merges = bool_field(json, "ignore_merges", false, where);
  return make_bpe(std::move(tables), options, where);
}

}  // namespace

std::shared_ptr<const TokenModel> make_model(const Json& json, ModelTables tables,
                                             std::string_view where) {
  const std::string type = type_of(json, tables, where);
  if (type == "BPE") return make_bpe_from(json, std::move(tables), where);
  if (type == "WordPiece") {
    const int64_t longest = int_field(json, "max_input_chars_per_word", 100, where);
    return make_word_piece(std::move(tables.vocabulary),
                           string_field(json, "unk_token", "[UNK]", where),
                           string_field(json, "continuing_subword_prefix", "##", where),
                           longest < 0 ? 0 : static_cast<size_t>(longest));
  }
  if (type == "WordLevel") {
    return make_word_level(std::move(tables.vocabulary),
                           string_field(json, "unk_token", "<unk>", where));
  }
  if (type == "Unigram") {
    const int64_t unknown = int_field(json, "unk_id", -1, where);
    if (unknown >= static_cast<int64_t>(tables.scores.size())) {
      fail(ErrorKind::kBadFile, "{}: unk_id is {} but the vocabulary has {} tokens", where, unknown,
           tables.scores.size());
    }
    const bool byte_fallback = bool_field(json, "byte_fallback", false, where);
    return make_unigram(
        std::move(tables),
        unknown < 0 ? std::nullopt : std::optional<int32_t>(static_cast<int32_t>(unknown)),
        byte_fallback, where);
  }
  fail(ErrorKind::kUnsupported,
       "{}: the model '{}' is none of BPE, Unigram, WordLevel and WordPiece", where, type);
}

std::string byte_token(unsigned char byte) {
  return fmt::format("<0x{:02X}>", byte);
}

std::optional<unsigned char> byte_of_token(std::string_view token) {
  if (token.size() != 6 || !token.starts_with("<0x") || !token.ends_with('>')) return std::nullopt;
  int value = 0;
  for (const char c : token.substr(3, 2)) {
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                             : -1;
    if (digit < 0) return std::nullopt;
    value = value * 16 + digit;
  }
  return static_cast<unsigned char>(value);
}

}  // namespace fovea
