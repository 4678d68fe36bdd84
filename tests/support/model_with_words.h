// A tiny checkpoint with a tokenizer of a few words.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "support/fixture_models.h"
#include "support/temp_folder.h"

namespace fovea {

// Line n is token n; more than enough for texts of tests.
inline constexpr std::string_view kTokensOfWords =
    "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\ncat\nsat\n##s\nun\n##believ\n##able\nmat\non\n.\né\n";

// The fixture's files in `folder`, and vocab.txt.
inline std::filesystem::path with_words(std::string_view fixture, const TempFolder& folder) {
  const std::filesystem::path target = folder / fixture;
  std::filesystem::copy(parity_folder(fixture), target);
  write_text(target / "vocab.txt", std::string(kTokensOfWords));
  return target;
}

}  // namespace fovea
