// A template cut into text, and the words and signs within its tags.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fovea::jinja {

enum class TokenKind {
  kText,
  kPrintBegin,
  kPrintEnd,
  kBlockBegin,
  kBlockEnd,
  kName,
  kString,
  kInteger,
  kReal,
  kSign,
  kEnd
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string text;  // of a string its value, of a sign its characters
  int line = 0;

  bool is(TokenKind wanted, std::string_view what) const { return kind == wanted && text == what; }
  bool sign(std::string_view what) const { return is(TokenKind::kSign, what); }
  bool name(std::string_view what) const { return is(TokenKind::kName, what); }
};

// Throws Error{kBadFile} naming `where` and the line.
std::vector<Token> tokens_of(std::string_view source, std::string_view where);

}  // namespace fovea::jinja
