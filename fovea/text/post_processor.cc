#include "fovea/text/post_processor.h"

#include <algorithm>
#include <map>

#include "fovea/base/error.h"
#include "fovea/text/json_fields.h"
#include "fovea/text/unicode.h"

namespace fovea {
namespace {

struct SpecialToken {
  std::vector<int32_t> ids;
  std::vector<std::string> tokens;
};

void add_special(Encoding& encoding, const SpecialToken& token, int32_t type_id) {
  for (size_t i = 0; i < token.ids.size(); ++i) {
    encoding.add(token.ids[i], token.tokens[i], type_id, true, {0, 0}, -1, -1);
  }
}

int32_t token_id(const Json& json, std::string_view where) {
  const int64_t id = json.as_int(where);
  if (id < 0 || id > INT32_MAX) fail(ErrorKind::kBadFile, "{}: {} is no token id", where, id);
  return static_cast<int32_t>(id);
}

SpecialToken parse_pair(const Json& json, std::string_view key, std::string_view where) {
  const auto& pair = json.at(key, where).as_array(where);
  if (pair.size() != 2) {
    fail(ErrorKind::kBadFile, "{}: '{}' should be a token and its id", where, key);
  }
  return {{token_id(pair[1], where)}, {pair[0].as_string(where)}};
}

bool is_space_in_token(char32_t code) {
  return code == 0x120 || is_white_space(code);  // Ġ stands for a space
}

size_t count_leading_spaces(std::string_view token) {
  size_t count = 0;
  for (size_t at = 0; at < token.size(); ++count) {
    const Character character = character_at(token, at);
    if (!is_space_in_token(character.code)) break;
    at += character.bytes;
  }
  return count;
}

size_t count_trailing_spaces(std::string_view token) {
  size_t count = 0;
  for (size_t end = token.size(); end > 0; ++count) {
    do {
      --end;
    } while (end > 0 && is_continuation(token[end]));
    if (!is_space_in_token(character_at(token, end).code)) break;
  }
  return count;
}

// Takes white space out of the spans of tokens, in characters, as the library does.
void trim_offsets(Encoding& encoding, std::string_view source, bool add_prefix_space) {
  for (size_t i = 0; i < encoding.size(); ++i) {
    size_t leading = count_leading_spaces(encoding.tokens[i]);
    const size_t trailing = count_trailing_spaces(encoding.tokens[i]);
    if (leading == 0 && trailing == 0) continue;
    ByteSpan& span = encoding.offsets[i];
    const bool is_first = i == 0 || span.begin == 0;
    if (is_first && add_prefix_space && leading == 1) leading = 0;
    for (; leading > 0 && span.begin < span.end; --leading) {
      ++span.begin;
      while (span.begin < span.end && is_continuation(source[span.begin])) ++span.begin;
    }
    for (size_t left = trailing; left > 0 && span.end > span.begin; --left) {
      --span.end;
      while (span.end > span.begin && is_continuation(source[span.end])) --span.end;
    }
  }
}

class ByteLevelProcessor final : public PostProcessor {
 public:
  ByteLevelProcessor(bool trims, bool add_prefix_space)
      : trims_(trims), add_prefix_space_(add_prefix_space) {}
  void process(std::vector<Encoding>& parts, std::span<const std::string_view> sources,
               bool) const override {
    if (!trims_) return;
    for (size_t i = 0; i < parts.size() && i < sources.size(); ++i) {
      trim_offsets(parts[i], sources[i], add_prefix_space_);
    }
  }

 private:
  bool trims_;
  bool add_prefix_space_;
};

// Pieces in order; a piece is a sequence or a special token.
struct TemplatePiece {
  int sequence = -1;
  SpecialToken token;
  int32_t type_id = 0;
};

class TemplateProcessor final : public PostProcessor {
 public:
  TemplateProcessor(std::vector<TemplatePiece> single, std::vector<TemplatePiece> pair)
      : single_(std::move(single)), pair_(std::move(pair)) {}
  void process(std::vector<Encoding>& parts, std::span<const std::string_view>,
               bool add_special_tokens) const override {
    Encoding all;
    const auto& pieces = parts.size() > 1 ? pair_ : single_;
    for (size_t i = 0; i < pieces.size(); ++i) {
      const TemplatePiece& piece = pieces[i];
      if (piece.sequence < 0) {
        if (add_special_tokens) add_special(all, piece.token, piece.type_id);
        continue;
      }
      const auto index = static_cast<size_t>(piece.sequence);
      if (index >= parts.size()) continue;
      const bool again =
          std::any_of(pieces.begin() + static_cast<ptrdiff_t>(i) + 1, pieces.end(),
                      [&](const TemplatePiece& later) { return later.sequence == piece.sequence; });
      Encoding part = again ? parts[index] : std::move(parts[index]);
      std::fill(part.type_ids.begin(), part.type_ids.end(), piece.type_id);
      all.append(std::move(part));
    }
    parts.clear();
    parts.push_back(std::move(all));
  }

 private:
  std::vector<TemplatePiece> single_;
  std::vector<TemplatePiece> pair_;
};

// BERT: [CLS] A [SEP] B [SEP]. RoBERTa: <s> A </s> </s> B </s>, one type, trimmed spans.
class ClsSepProcessor final : public PostProcessor {
 public:
  ClsSepProcessor(SpecialToken cls, SpecialToken sep, bool roberta, bool trims,
                  bool add_prefix_space)
      : cls_(std::move(cls)),
        sep_(std::move(sep)),
        roberta_(roberta),
        trim_(roberta && trims, add_prefix_space) {}
  void process(std::vector<Encoding>& parts, std::span<const std::string_view> sources,
               bool add_special_tokens) const override {
    trim_.process(parts, sources, add_special_tokens);
    for (size_t i = 0; i < parts.size(); ++i) {
      Encoding& part = parts[i];
      const int32_t type_id = roberta_ || i == 0 ? 0 : 1;
      std::fill(part.type_ids.begin(), part.type_ids.end(), type_id);
      if (!add_special_tokens) continue;
      Encoding whole;
      if (i == 0) {
        add_special(whole, cls_, type_id);
      } else if (roberta_) {
        add_special(whole, sep_, type_id);
      }
      whole.append(std::move(part));
      add_special(whole, sep_, type_id);
      part = std::move(whole);
    }
  }

 private:
  SpecialToken cls_;
  SpecialToken sep_;
  bool roberta_;
  ByteLevelProcessor trim_;
};

class SequenceProcessor final : public PostProcessor {
 public:
  explicit SequenceProcessor(std::vector<std::shared_ptr<const PostProcessor>> steps)
      : steps_(std::move(steps)) {}
  void process(std::vector<Encoding>& parts, std::span<const std::string_view> sources,
               bool add_special_tokens) const override {
    for (const auto& step : steps_) step->process(parts, sources, add_special_tokens);
  }

 private:
  std::vector<std::shared_ptr<const PostProcessor>> steps_;
};

std::map<std::string, SpecialToken> parse_special_tokens(const Json& json, std::string_view where) {
  std::map<std::string, SpecialToken> tokens;
  const Json* list = json.find("special_tokens");
  if (list == nullptr) return tokens;
  for (const auto& [name, entry] : list->as_object(where)) {
    SpecialToken& token = tokens[name];
    for (const Json& id : entry.at("ids", where).as_array(where)) {
      token.ids.push_back(token_id(id, where));
    }
    for (const Json& text : entry.at("tokens", where).as_array(where)) {
      token.tokens.push_back(text.as_string(where));
    }
    if (token.ids.size() != token.tokens.size()) {
      fail(ErrorKind::kBadFile, "{}: the special token '{}' has {} ids and {} tokens", where, name,
           token.ids.size(), token.tokens.size());
    }
  }
  return tokens;
}

std::vector<TemplatePiece> parse_template(const Json& json, std::string_view key,
                                          const std::map<std::string, SpecialToken>& tokens,
                                          std::string_view where) {
  std::vector<TemplatePiece> pieces;
  for (const Json& item : json.at(key, where).as_array(where)) {
    TemplatePiece piece;
    if (const Json* sequence = item.find("Sequence")) {
      piece.sequence = string_field(*sequence, "id", where) == "B" ? 1 : 0;
      piece.type_id = token_id(sequence->at("type_id", where), where);
    } else {
      const Json& special = item.at("SpecialToken", where);
      const std::string name = string_field(special, "id", where);
      const auto found = tokens.find(name);
      if (found == tokens.end()) {
        fail(ErrorKind::kBadFile, "{}: the template uses '{}', which special_tokens lacks", where,
             name);
      }
      piece.token = found->second;
      piece.type_id = token_id(special.at("type_id", where), where);
    }
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

}  // namespace

std::shared_ptr<const PostProcessor> make_surrounding(const Surroundings& tokens) {
  const auto pieces_for = [&](int sequences) {
    std::vector<TemplatePiece> pieces;
    const auto add = [&](const std::vector<Surroundings::Token>& list) {
      for (const auto& [text, id] : list) pieces.push_back({-1, {{id}, {text}}, 0});
    };
    add(tokens.before);
    for (int sequence = 0; sequence < sequences; ++sequence) {
      if (sequence > 0) add(tokens.between);
      pieces.push_back({sequence, {}, 0});
    }
    add(tokens.after);
    return pieces;
  };
  return std::make_shared<TemplateProcessor>(pieces_for(1), pieces_for(2));
}

std::shared_ptr<const PostProcessor> make_post_processor(const Json& json, std::string_view where) {
  if (json.is_null()) return nullptr;
  const std::string type = string_field(json, "type", where);
  const bool trims = bool_field(json, "trim_offsets", true, where);
  const bool add_prefix_space = bool_field(json, "add_prefix_space", true, where);
  if (type == "TemplateProcessing") {
    const auto tokens = parse_special_tokens(json, where);
    return std::make_shared<TemplateProcessor>(parse_template(json, "single", tokens, where),
                                               parse_template(json, "pair", tokens, where));
  }
  if (type == "BertProcessing" || type == "RobertaProcessing") {
    return std::make_shared<ClsSepProcessor>(parse_pair(json, "cls", where),
                                             parse_pair(json, "sep", where),
                                             type == "RobertaProcessing", trims, add_prefix_space);
  }
  if (type == "ByteLevel") return std::make_shared<ByteLevelProcessor>(trims, add_prefix_space);
  if (type == "Sequence") {
    std::vector<std::shared_ptr<const PostProcessor>> steps;
    for (const Json& step : json.at("processors", where).as_array(where)) {
      if (auto made = make_post_processor(step, where)) steps.push_back(std::move(made));
    }
    return std::make_shared<SequenceProcessor>(std::move(steps));
  }
  fail(ErrorKind::kUnsupported, "{}: the post-processor '{}' is not known", where, type);
}

}  // namespace fovea
