#include "fovea/text/tokenizer_json.h"

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/text/json_cursor.h"
#include "fovea/text/unicode.h"

namespace fovea {
namespace {

constexpr size_t kBytesPerToken = 24;  // of file, to guess how many tokens there will be

void read_token_map(JsonCursor& cursor, Vocabulary& vocabulary, size_t file_bytes) {
  vocabulary.reserve(file_bytes / kBytesPerToken / 2, file_bytes / 4);
  cursor.object([&](std::string_view token) { vocabulary.add(token, cursor.integer()); });
}

void read_scored_tokens(JsonCursor& cursor, ModelTables& tables, size_t file_bytes) {
  tables.vocabulary.reserve(file_bytes / kBytesPerToken, file_bytes / 2);
  cursor.array([&] {
    cursor.expect('[');
    const std::string_view token = cursor.string();
    cursor.expect(',');
    const double score = cursor.number();
    cursor.expect(']');
    tables.vocabulary.add(token, static_cast<int64_t>(tables.scores.size()));
    tables.scores.push_back(score);
  });
}

void read_merges(JsonCursor& cursor, ModelTables& tables) {
  cursor.array([&] {
    if (cursor.peek() == '[') {
      cursor.expect('[');
      const std::string_view left = cursor.string();
      cursor.expect(',');
      const std::string_view right = cursor.string();
      cursor.expect(']');
      tables.merges.emplace_back(left, right);
      return;
    }
    const std::string_view both = cursor.string();
    const size_t space = both.find(' ');
    if (space == std::string_view::npos || both.find(' ', space + 1) != std::string_view::npos) {
      cursor.fail_here("a merge of two tokens with one space between them");
    }
    tables.merges.emplace_back(both.substr(0, space), both.substr(space + 1));
  });
}

void require_utf8(std::string_view text, std::string_view source) {
  if (is_valid_utf8(text)) return;
  fail(ErrorKind::kBadFile, "{}: byte {} is not valid UTF-8", source, find_invalid_utf8(text));
}

}  // namespace

TokenizerJson read_tokenizer_json(std::string_view text, std::string_view source) {
  require_utf8(text, source);
  TokenizerJson result;
  std::string rest;
  size_t copied = 0;
  JsonCursor cursor(text, source, result.tables.kept);
  const auto take_out = [&](const auto& read) {
    cursor.peek();
    rest.append(text, copied, cursor.position() - copied).append("null");
    read();
    copied = cursor.position();
  };
  const auto read_model_member = [&](std::string_view key) {
    const char next = cursor.peek();
    if (key == "vocab" && next == '{') {
      take_out([&] { read_token_map(cursor, result.tables.vocabulary, text.size()); });
    } else if (key == "vocab" && next == '[') {
      take_out([&] { read_scored_tokens(cursor, result.tables, text.size()); });
    } else if (key == "merges" && next == '[') {
      take_out([&] { read_merges(cursor, result.tables); });
    } else {
      cursor.skip();
    }
  };
  if (cursor.peek() == '{') {
    cursor.object([&](std::string_view key) {
      if (key == "model" && cursor.peek() == '{') {
        cursor.object(read_model_member);
      } else {
        cursor.skip();
      }
    });
  }
  rest.append(text, copied, text.size() - copied);
  result.rest = Json::parse(rest, source);
  return result;
}

Vocabulary read_vocab_json(std::string_view text, std::string_view source) {
  require_utf8(text, source);
  Vocabulary vocabulary;
  std::deque<std::string> kept;
  JsonCursor cursor(text, source, kept);
  read_token_map(cursor, vocabulary, text.size());
  if (cursor.peek() != '\0') cursor.fail_here("the end of the file");
  return vocabulary;
}

}  // namespace fovea
