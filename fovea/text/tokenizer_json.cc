#include "fovea/text/tokenizer_json.h"

#include "fovea/text/json_cursor.h"

namespace fovea {
namespace {

// The least that a token or a merge takes of a file, so that room for all can be made at once.
// Memory that is not used is never touched.
constexpr size_t kLeastBytes = 8;

void read_token_map(JsonCursor& cursor, Vocabulary& vocabulary) {
  std::vector<VocabularyEntry> entries;
  entries.reserve(cursor.left() / kLeastBytes);
  cursor.object([&](std::string_view token) { entries.push_back({token, cursor.integer()}); });
  vocabulary.add_all(entries);
}

void read_scored_tokens(JsonCursor& cursor, ModelTables& tables) {
  std::vector<VocabularyEntry> entries;
  entries.reserve(cursor.left() / kLeastBytes);
  tables.scores.reserve(cursor.left() / kLeastBytes);
  cursor.array([&] {
    cursor.expect('[');
    const std::string_view token = cursor.string();
    cursor.expect(',');
    const double score = cursor.number();
    cursor.expect(']');
    entries.push_back({token, static_cast<int64_t>(tables.scores.size())});
    tables.scores.push_back(score);
  });
  tables.vocabulary.add_all(entries);
}

void read_merges(JsonCursor& cursor, ModelTables& tables) {
  tables.merges.reserve(cursor.left() / kLeastBytes);
  cursor.array([&] {
    if (cursor.take('[')) {
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

}  // namespace

TokenizerJson read_tokenizer_json(std::string_view text, std::string_view source) {
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
      take_out([&] { read_token_map(cursor, result.tables.vocabulary); });
    } else if (key == "vocab" && next == '[') {
      take_out([&] { read_scored_tokens(cursor, result.tables); });
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
  Vocabulary vocabulary;
  std::deque<std::string> kept;
  JsonCursor cursor(text, source, kept);
  read_token_map(cursor, vocabulary);
  if (cursor.peek() != '\0') cursor.fail_here("the end of the file");
  return vocabulary;
}

}  // namespace fovea
