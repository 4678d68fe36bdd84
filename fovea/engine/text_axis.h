// Makes axes of tokens.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "fovea/capture/run.h"
#include "fovea/text/tokenizer.h"

namespace fovea {

// The axis of a text. Its source is `text` and `pair`, joined by a line break; `pair` may be empty.
Axis text_axis(const Tokenizer& tokenizer, const Encoding& encoding, std::string_view text,
               std::string_view pair);

// The axis of ids alone. Positions show the vocabulary's tokens, or the numbers if there is no
// tokenizer.
Axis ids_axis(const Tokenizer* tokenizer, std::span<const int64_t> ids);

// The axis of ids that a model wrote. Its source is the text that they stand for; each token knows
// its part of that text.
Axis written_axis(const Tokenizer& tokenizer, std::span<const int64_t> ids);

// Tells every position which word of the source text it is a piece of, as people count words
// (text/word_boundaries.h).
void divide_into_words(Axis& axis);

// The same, but words are what stands between spaces: that is how alignment files count them.
void divide_at_spaces(Axis& axis);

// The rows of a generation: the tokens of `columns`, and from place `prompt` - 1 on "after X →
// predicts Y", with its probability where that is given. `ids` holds the prompt and what was
// written after it, as far as it is known.
Axis steps_axis(const Axis& columns, const Tokenizer* tokenizer, std::span<const int64_t> ids,
                int64_t prompt, std::span<const double> probabilities = {});

// The states of a sound's encoder, named by the second at which each begins.
Axis sound_axis(int64_t positions, double seconds_each);

}  // namespace fovea
