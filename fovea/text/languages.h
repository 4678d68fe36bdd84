// Tokens that tell a model which language a text is in, or is to become.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fovea/base/json.h"

namespace fovea {

class Tokenizer;

// How a family of models writes languages and where it puts them.
struct LanguageTokens {
  std::string before;  // what the vocabulary puts around a code: "__", ">>", "<|"
  std::string after;
  std::vector<std::string> codes;  // by id; empty: there are no languages
  // Tokens before and behind a text. An empty one stands for the language's, and is left out
  // while there is no current language.
  std::vector<std::string> prefix;
  std::vector<std::string> suffix;
  std::string current;

  std::string token_of(std::string_view code) const { return before + std::string(code) + after; }
};

// The codes of a family whose files need not name them. `family` is tokenizer_class without
// "Tokenizer" and "Fast".
std::vector<std::string> known_languages(std::string_view family, const Json& config);

// Gives a tokenizer the languages of its family, if the family has any, and puts the family's
// tokens around a text, whatever tokenizer.json asks for. Other tokenizers are returned unchanged.
Tokenizer with_languages_of(const Tokenizer& tokenizer, std::string_view family, const Json& config,
                            std::string_view source);
// A tokenizer for texts in the language that tokenizer_config.json translates into, if it names
// one.
Tokenizer with_target_language(const Tokenizer& tokenizer, const Json& config,
                               std::string_view source);

}  // namespace fovea
