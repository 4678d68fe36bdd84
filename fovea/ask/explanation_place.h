// Which attention an explanation is about, and which position asks: a token, a patch, an object
// query or a step of a decoder.
#pragma once

#include <string>

#include "fovea/ask/explanation.h"
#include "fovea/capture/words.h"

namespace fovea {

// The asked attention. In a model with a decoder, most methods are about what it reads of the
// source; methods that go through a stack begin with the encoder. Throws as site_taken() does.
SiteKind explained_site(const Question& question, const Engine& engine, bool sees_picture);
// The same for a captured run, as if a model with these attentions were asked. Throws
// Error{kInvalidArgument} about "site" that lists those of the run.
SiteKind explained_site(const Question& question, const Run& run);

// The row that "token", "at" and "query" name. Without them: [CLS] or a mask; in a decoder the last
// row; in a translation the step that writes the last word. Throws Error{kInvalidArgument} for a
// row that is not there.
FoundToken explained_row(const Question& question, const AskedExplanation& asked);

// Words for the position: "seen from [CLS]"; for a decoder's step what it writes: "writing
// musique".
std::string position_name(const AskedExplanation& asked);

// For a decoder: the step that writes the word asked about, whichever attention is shown.
int64_t answer_position(const AskedExplanation& asked);

}  // namespace fovea
