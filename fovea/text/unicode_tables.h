// Classes of characters, read off the `tokenizers` library by
// tools/fixtures/make_tokenizer_fixture.py.
#pragma once

#include <span>

#include "fovea/text/unicode.h"

namespace fovea {

std::span<const CodeRange> word_ranges();
std::span<const CodeRange> numeric_ranges();
std::span<const CodeRange> punctuation_ranges();
std::span<const CodeRange> control_ranges();
std::span<const CodeRange> nonspacing_mark_ranges();
std::span<const CodeRange> combining_mark_ranges();

}  // namespace fovea
