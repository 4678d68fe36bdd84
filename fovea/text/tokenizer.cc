#include "fovea/text/tokenizer.h"

#include "fovea/base/cancel.h"
#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/utf8.h"
#include "fovea/text/byte_level.h"
#include "fovea/text/json_fields.h"
#include "fovea/text/tokenizer_json.h"
#include "fovea/text/tokenizer_parts.h"
#include "fovea/text/unicode.h"
#include "fovea/text/word_cache.h"

namespace fovea {
namespace {

constexpr size_t kLongestText = size_t{1} << 30;

// The text with each invalid byte as U+FFFD that comes from that byte.
AlignedText make_valid(std::string_view text, Encoding& encoding) {
  if (is_valid_utf8(text)) return AlignedText(std::string(text));
  std::string valid;
  std::vector<ByteSpan> spans;
  for (size_t offset = 0; offset < text.size();) {
    bool good = true;
    const Character character = checked_character_at(text, offset, good);
    if (!good && encoding.invalid_bytes++ == 0) encoding.first_invalid = offset;
    append_utf8(valid, character.code);
    const auto begin = static_cast<uint32_t>(offset);
    spans.insert(spans.end(), utf8_size(character.code), {begin, begin + character.bytes});
    offset += character.bytes;
  }
  return AlignedText(std::move(valid), std::move(spans), 0);
}

// A part of the text; all of it is not copied.
AlignedText take(AlignedText& text, ByteSpan span) {
  if (span.begin > 0 || span.end < text.text().size()) return text.slice(span.begin, span.end);
  return std::move(text).whole_slice();
}

// Makes room for `more` tokens and, going by those of the first `done` bytes, for all that follow.
void make_room(Encoding& encoding, size_t more, size_t done, size_t bytes) {
  constexpr size_t kFewTokens = 64;
  const size_t needed = encoding.size() + more;
  if (needed <= encoding.ids.capacity()) return;
  const double rest = double(bytes - std::min(done, bytes)) / double(std::max<size_t>(done, 1));
  const bool guess = done > bytes / 64 && encoding.size() > kFewTokens;
  const size_t total = guess ? size_t(double(encoding.size()) * (1.02 + rest)) : 0;
  encoding.reserve(std::max({total, needed + 2, encoding.ids.capacity() * 3 / 2, kFewTokens}));
}

}  // namespace

Tokenizer make_tokenizer(Tokenizer::Parts parts) {
  return Tokenizer(std::make_shared<const Tokenizer::Parts>(std::move(parts)));
}

Tokenizer make_tokenizer(std::shared_ptr<const TokenModel> model, const Json& json,
                         std::string_view where) {
  const auto member = [&](std::string_view key) {
    const Json* value = json.find(key);
    return value == nullptr ? Json() : *value;
  };
  Tokenizer::Parts parts;
  parts.model = std::move(model);
  parts.normalizer = make_normalizer(member("normalizer"), where);
  parts.pre_tokenizer = make_pre_tokenizer(member("pre_tokenizer"), where);
  parts.post_processor = make_post_processor(member("post_processor"), where);
  parts.decoder = make_decoder(member("decoder"), where);
  std::vector<AddedToken> added;
  if (const Json* list = json.find("added_tokens"); list != nullptr && !list->is_null()) {
    for (const Json& token : list->as_array(where))
      added.push_back(parse_added_token(token, where));
  }
  parts.added.add(std::move(added), *parts.model, parts.normalizer.get());
  if (parts.pre_tokenizer != nullptr) {
    parts.maps_bytes = parts.pre_tokenizer->maps_bytes();
    parts.space_mark = parts.pre_tokenizer->space_mark();
  }
  // Llama 2 writes spaces with a normalizer; its vocabulary tells.
  if (!parts.maps_bytes && parts.space_mark == 0 && parts.model->has_byte_fallback()) {
    parts.space_mark = 0x2581;
  }
  return make_tokenizer(std::move(parts));
}

Tokenizer Tokenizer::from_json(std::string_view text, std::string_view source) {
  TokenizerJson file = read_tokenizer_json(text, source);
  const Json& model = file.rest.at("model", source);
  return make_tokenizer(make_model(model, std::move(file.tables), source), file.rest, source);
}

Tokenizer Tokenizer::from_file(const std::filesystem::path& path) {
  const auto file = MappedFile::open(path);
  return from_json(as_text(file->bytes()), path.string());
}

Encoding Tokenizer::encode_one(std::string_view text, int32_t sequence) const {
  Encoding encoding;
  if (text.size() >= kLongestText) {
    fail(ErrorKind::kInvalidArgument, "a text of {} bytes; at most {} can be tokenized at once",
         text.size(), kLongestText);
  }
  const Parts& parts = *parts_;
  WordCache cache(*parts.model);
  int32_t word = 0;
  const auto add_added = [&](const AlignedText& part, const AddedToken& token) {
    encoding.add(token.id, part.text(), sequence, false, part.source(0, part.text().size()), word++,
                 sequence);
  };
  const Vocabulary& vocabulary = parts.model->vocabulary();
  const auto add_words = [&](AlignedText part) {
    Words words(std::move(part));
    if (parts.pre_tokenizer != nullptr) parts.pre_tokenizer->cut(words);
    for (const Word& piece : words.list()) {
      check_cancelled();
      const auto tokens = cache.tokens(piece.view());
      make_room(encoding, tokens.size(), piece.source(0, 1).begin, text.size());
      for (const WordToken& token : tokens) {
        if (token.begins_word && &token != tokens.data()) ++word;
        encoding.add(token.id, std::string(vocabulary.token(token.id)), sequence, false,
                     piece.source(token.begin, token.end), word, sequence);
      }
      ++word;
    }
  };
  AlignedText whole = make_valid(text, encoding);
  for (const auto& [span, token] : parts.added.find(whole.text(), false)) {
    AlignedText part = take(whole, span);
    if (token != nullptr) {
      add_added(part, *token);
      continue;
    }
    if (parts.normalizer != nullptr) parts.normalizer->apply(part);
    if (!parts.added.has(true)) {
      if (!part.empty()) add_words(std::move(part));
      continue;
    }
    for (const auto& [inner, found] : parts.added.find(part.text(), true)) {
      AlignedText piece = take(part, inner);
      if (found != nullptr) {
        add_added(piece, *found);
      } else if (!piece.empty()) {
        add_words(std::move(piece));
      }
    }
  }
  return encoding;
}

Encoding Tokenizer::encode(std::string_view text, bool add_special) const {
  std::vector<Encoding> parts;  // an initializer list would copy
  parts.push_back(encode_one(text, 0));
  const std::string_view sources[] = {text};
  if (parts_->post_processor != nullptr) {
    parts_->post_processor->process(parts, sources, add_special);
  }
  return std::move(parts[0]);
}

Encoding Tokenizer::encode_pair(std::string_view text, std::string_view pair,
                                bool add_special) const {
  std::vector<Encoding> parts;
  parts.push_back(encode_one(text, 0));
  parts.push_back(encode_one(pair, 1));
  parts[1].invalid_in_pair = parts[1].invalid_bytes > 0;
  const std::string_view sources[] = {text, pair};
  if (parts_->post_processor != nullptr) {
    parts_->post_processor->process(parts, sources, add_special);
  }
  Encoding all;
  for (Encoding& part : parts) all.append(std::move(part));
  return all;
}

std::string Tokenizer::decode(std::span<const int32_t> ids, bool skip_special) const {
  std::vector<std::string> tokens;
  for (const int32_t id : ids) {
    if (skip_special && is_special(id)) continue;
    if (parts_->added.by_id(id) == nullptr && !parts_->model->vocabulary().has_id(id)) continue;
    tokens.push_back(token(id));
  }
  std::string text;
  if (parts_->decoder != nullptr) {
    for (const std::string& part : parts_->decoder->apply(std::move(tokens))) text += part;
    return text;
  }
  for (size_t i = 0; i < tokens.size(); ++i) text.append(i > 0 ? " " : "").append(tokens[i]);
  return text;
}

int32_t Tokenizer::size() const {
  return std::max(parts_->model->vocabulary().end_id(), parts_->added.end_id());
}

std::optional<int32_t> Tokenizer::find(std::string_view token) const {
  if (const AddedToken* added = parts_->added.by_content(token)) return added->id;
  return parts_->model->vocabulary().find(token);
}

std::string Tokenizer::token(int32_t id) const {
  if (const AddedToken* added = parts_->added.by_id(id)) return added->content;
  return std::string(parts_->model->vocabulary().token(id));
}

bool Tokenizer::is_special(int32_t id) const {
  const AddedToken* added = parts_->added.by_id(id);
  return added != nullptr && added->special;
}

std::optional<int32_t> Tokenizer::role(std::string_view name) const {
  const auto found = parts_->roles.find(name);
  if (found == parts_->roles.end()) return std::nullopt;
  return found->second;
}

std::optional<int32_t> Tokenizer::unknown_id() const {
  return parts_->model->unknown_id();
}

TokenInfo Tokenizer::info(int32_t id) const {
  const Parts& parts = *parts_;
  TokenInfo info;
  info.id = id;
  info.bytes = token(id);
  const AddedToken* added = parts.added.by_id(id);
  const auto unknown = parts.model->unknown_id();
  if (added != nullptr || (unknown && *unknown == id)) {
    info.kind = is_special(id)              ? TokenKind::kSpecial
                : unknown && *unknown == id ? TokenKind::kUnknown
                                            : TokenKind::kText;
    info.display = display_of(info.bytes, info.kind);
    return info;
  }
  const std::string_view prefix = parts.model->continuing_prefix();
  const std::string_view suffix = parts.model->word_suffix();
  if (parts.maps_bytes) {
    if (auto bytes = bytes_of_characters(info.bytes)) info.bytes = std::move(*bytes);
  } else if (const auto byte = byte_of_token(info.bytes);
             byte && parts.model->has_byte_fallback()) {
    info.bytes.assign(1, static_cast<char>(*byte));
    info.kind = TokenKind::kBytes;
  } else if (!prefix.empty() && info.bytes.starts_with(prefix)) {
    info.bytes.erase(0, prefix.size());
    info.kind = TokenKind::kContinuation;
  } else if (!suffix.empty() && info.bytes.ends_with(suffix)) {
    info.bytes.resize(info.bytes.size() - suffix.size());
  } else if (parts.space_mark != 0) {
    std::u32string codes = decode_utf8(info.bytes);
    std::replace(codes.begin(), codes.end(), parts.space_mark, U' ');
    info.bytes = encode_utf8(codes);
  }
  if (is_partial_utf8(info.bytes)) info.kind = TokenKind::kBytes;
  info.display = display_of(info.bytes, info.kind);
  if (info.display.starts_with("␣") || info.display.starts_with("↵") ||
      info.display.starts_with("⇥")) {
    const std::u32string codes = decode_utf8(info.bytes);
    if (std::all_of(codes.begin(), codes.end(), is_white_space)) info.kind = TokenKind::kSpace;
  }
  return info;
}

std::vector<ShownToken> Tokenizer::show(const Encoding& encoding) const {
  std::vector<ShownToken> tokens;
  tokens.reserve(encoding.size());
  for (size_t i = 0; i < encoding.size(); ++i) {
    ShownToken shown;
    shown.info = info(encoding.ids[i]);
    if (encoding.special[i]) shown.info.kind = TokenKind::kSpecial;
    shown.span = encoding.offsets[i];
    shown.word = encoding.words[i];
    shown.sequence = encoding.sequences[i];
    tokens.push_back(std::move(shown));
  }
  complete_glyphs(tokens);
  return tokens;
}

}  // namespace fovea
