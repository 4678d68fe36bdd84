// Which attention an explanation is of, and where it is asked from: a token, a patch, an object
// query or a step of a decoder.
#pragma once

#include <string>

#include "fovea/ask/explanation.h"
#include "fovea/capture/words.h"

namespace fovea {

// What the decoder reads of the source is what most methods are about; those that go through a
// stack begin with the encoder. Throws as site_taken() does.
SiteKind explained_site(const Question& question, const Engine& engine, bool sees_picture);
// As a model of the same attentions would be asked. Throws Error{kInvalidArgument} about "site"
// that lists those of the run.
SiteKind explained_site(const Question& question, const Run& run);

// The row that "token", "at" and "query" name, otherwise [CLS] or a mask, of decoders the last, of
// translations the step that writes the last word. Throws Error{kInvalidArgument} for one that is
// not there.
FoundToken explained_row(const Question& question, const AskedExplanation& asked);

// Of the position: "seen from [CLS]"; of a decoder's step what it writes: "writing musique".
std::string position_name(const AskedExplanation& asked);

// Of a decoder the step that writes the word asked about, whichever attention is looked at.
int64_t answer_position(const AskedExplanation& asked);

}  // namespace fovea
