#include "fovea/base/markup.h"

namespace fovea {
namespace {

std::string escaped(std::string_view text, std::string_view quote) {
  std::string result;
  for (const char letter : text) {
    switch (letter) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += quote;
        break;
      default:
        result += letter;
    }
  }
  return result;
}

}  // namespace

std::string escape_text(std::string_view text) {
  return escaped(text, "\"");
}

std::string escape_attribute(std::string_view text) {
  return escaped(text, "&quot;");
}

}  // namespace fovea
