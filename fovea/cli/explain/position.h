// Where an explanation is asked from: a token, a patch, an object query or a step of a decoder.
#pragma once

#include <string>

#include "fovea/capture/words.h"
#include "fovea/cli/explain/question.h"

namespace fovea {

// Whether single edges from the position are taken away, one after the other.
bool cuts_edges(const GivenParameters& parameters);

// The row that --token, --at and --query name, otherwise [CLS] or a mask, of decoders the last, of
// translations the step that writes the last word. Throws Error{kInvalidArgument} for one that is
// not there.
FoundToken chosen_row(const Args& args, const ExplainQuestion& question);

// Of the question's position: "seen from [CLS]"; of a decoder's step what it writes: "writing
// musique".
std::string position_name(const ExplainQuestion& question);

// Of a decoder the step that writes the word asked about, whichever attention is looked at.
int64_t answer_position(const ExplainQuestion& question);

}  // namespace fovea
