#include "fovea/text/decoder.h"

#include <functional>
#include <utility>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/text/byte_level.h"
#include "fovea/text/json_fields.h"
#include "fovea/text/pattern.h"
#include "fovea/text/pre_tokenizer.h"
#include "fovea/text/token_model.h"
#include "fovea/text/unicode.h"

namespace fovea {
namespace {

using Tokens = std::vector<std::string>;
using DecodeWork = std::function<Tokens(Tokens)>;

class SimpleDecoder final : public Decoder {
 public:
  explicit SimpleDecoder(DecodeWork work) : work_(std::move(work)) {}
  Tokens apply(Tokens tokens) const override { return work_(std::move(tokens)); }

 private:
  DecodeWork work_;
};

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  if (from.empty()) return text;
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

std::string join(const Tokens& tokens) {
  std::string text;
  for (const std::string& token : tokens) text += token;
  return text;
}

DecodeWork make_word_piece_decoder(const Json& json, std::string_view where) {
  return [prefix = string_field(json, "prefix", "##", where),
          cleanup = bool_field(json, "cleanup", true, where)](Tokens tokens) {
    static constexpr std::pair<std::string_view, std::string_view> kCleanups[] = {
        {" .", "."},   {" ?", "?"},     {" !", "!"},    {" ,", ","},
        {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},  {" do not", " don't"},
        {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
    for (size_t i = 0; i < tokens.size(); ++i) {
      if (i > 0) {
        if (tokens[i].starts_with(prefix)) {
          tokens[i].erase(0, prefix.size());
        } else {
          tokens[i].insert(0, " ");
        }
      }
      if (!cleanup) continue;
      for (const auto& [from, to] : kCleanups) tokens[i] = replaced(std::move(tokens[i]), from, to);
    }
    return tokens;
  };
}

Tokens decode_byte_level(Tokens tokens) {
  std::string bytes;
  for (const std::string& token : tokens) {
    const auto decoded = bytes_of_characters(token);
    bytes += decoded ? *decoded : token;
  }
  return {to_valid_utf8(bytes)};
}

Tokens decode_byte_fallback(Tokens tokens) {
  Tokens result;
  std::string bytes;
  const auto flush = [&] {
    if (bytes.empty()) return;
    if (is_valid_utf8(bytes)) {
      result.push_back(bytes);
    } else {
      result.insert(result.end(), bytes.size(), "\uFFFD");
    }
    bytes.clear();
  };
  for (std::string& token : tokens) {
    if (const auto byte = byte_of_token(token)) {
      bytes += static_cast<char>(*byte);
    } else {
      flush();
      result.push_back(std::move(token));
    }
  }
  flush();
  return result;
}

DecodeWork make_strip(const Json& json, std::string_view where) {
  std::string content;
  append_utf8(content, parse_character(json, "content", 0, where));
  const int64_t start = int_field(json, "start", 0, where);
  const int64_t stop = int_field(json, "stop", 0, where);
  return [content, start, stop](Tokens tokens) {
    for (std::string& token : tokens) {
      for (int64_t i = 0; i < start && token.starts_with(content); ++i) {
        token.erase(0, content.size());
      }
      for (int64_t i = 0; i < stop && token.ends_with(content); ++i) {
        token.resize(token.size() - content.size());
      }
    }
    return tokens;
  };
}

DecodeWork make_piece_replace(const Json& json, std::string_view where) {
  return [pattern = make_pattern(json.at("pattern", where), where),
          content = string_field(json, "content", where)](Tokens tokens) {
    PatternFinder finder(pattern);
    for (std::string& token : tokens) {
      std::string text;
      for (const auto& [span, is_match] : finder.pieces(token)) {
        text += is_match ? content : token.substr(span.begin, span.end - span.begin);
      }
      token = std::move(text);
    }
    return tokens;
  };
}

DecodeWork make_metaspace_decoder(const Json& json, std::string_view where) {
  std::string mark;
  append_utf8(mark, parse_character(json, "replacement", 0x2581, where));
  const bool drops_first = parse_prepend_scheme(json, where) != PrependScheme::kNever;
  return [mark, drops_first](Tokens tokens) {
    for (size_t i = 0; i < tokens.size(); ++i) {
      tokens[i] = replaced(std::move(tokens[i]), mark, i == 0 && drops_first ? "" : " ");
    }
    return tokens;
  };
}

DecodeWork make_bpe_decoder(const Json& json, std::string_view where) {
  return [suffix = string_field(json, "suffix", "</w>", where)](Tokens tokens) {
    for (size_t i = 0; i < tokens.size(); ++i) {
      tokens[i] = replaced(std::move(tokens[i]), suffix, i + 1 == tokens.size() ? "" : " ");
    }
    return tokens;
  };
}

DecodeWork make_decoder_sequence(const Json& json, std::string_view where) {
  std::vector<std::shared_ptr<const Decoder>> parts;
  for (const Json& part : json.at("decoders", where).as_array(where)) {
    if (auto made = make_decoder(part, where)) parts.push_back(std::move(made));
  }
  return [parts = std::move(parts)](Tokens tokens) {
    for (const auto& part : parts) tokens = part->apply(std::move(tokens));
    return tokens;
  };
}

}  // namespace

std::shared_ptr<const Decoder> make_decoder(const Json& json, std::string_view where) {
  if (json.is_null()) return nullptr;
  const std::string type = string_field(json, "type", where);
  const auto made = [](DecodeWork work) {
    return std::make_shared<SimpleDecoder>(std::move(work));
  };
  if (type == "Sequence") return made(make_decoder_sequence(json, where));
  if (type == "WordPiece") return made(make_word_piece_decoder(json, where));
  if (type == "ByteLevel") return made(decode_byte_level);
  if (type == "ByteFallback") return made(decode_byte_fallback);
  if (type == "Metaspace") return made(make_metaspace_decoder(json, where));
  if (type == "Strip") return made(make_strip(json, where));
  if (type == "Replace") return made(make_piece_replace(json, where));
  if (type == "BPEDecoder") return made(make_bpe_decoder(json, where));
  if (type == "Fuse") return made([](const Tokens& tokens) { return Tokens{join(tokens)}; });
  fail(ErrorKind::kUnsupported, "{}: the decoder '{}' is not known", where, type);
}

}  // namespace fovea
