// Token sequences as the axes of a run.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "fovea/capture/run.h"
#include "fovea/text/tokenizer.h"

namespace fovea {

// `text` and `pair` joined by a line break are the axis's source; a pair may be empty.
Axis text_axis(const Tokenizer& tokenizer, const Encoding& encoding, std::string_view text,
               std::string_view pair);

// For ids alone: the vocabulary's display forms, or the numbers where there is no tokenizer.
Axis ids_axis(const Tokenizer* tokenizer, std::span<const int64_t> ids);

// For ids that a model wrote: the text they stand for is the source, each token beside its part of
// it.
Axis written_axis(const Tokenizer& tokenizer, std::span<const int64_t> ids);

// Says of every position which word of the source text it is a piece of, as people count them
// (text/word_boundaries.h).
void divide_into_words(Axis& axis);

// The same with words as the spaces of the source text part them, all of which count: what files of
// alignments mean by words.
void divide_at_spaces(Axis& axis);

// Rows of a generation: the tokens of `columns`, and from place `prompt` - 1 on "after X → predicts
// Y". `ids` holds the prompt and all that was written after it, as far as it is known.
Axis steps_axis(const Axis& columns, const Tokenizer* tokenizer, std::span<const int64_t> ids,
                int64_t prompt);

// The states of a sound's encoder: the second at which each begins.
Axis sound_axis(int64_t positions, double seconds_each);

}  // namespace fovea
