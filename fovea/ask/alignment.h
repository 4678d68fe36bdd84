// How an alignment is read from cross-attention: what questions about one text and about many have
// in common.
#pragma once

#include <vector>

#include "fovea/ask/field.h"
#include "fovea/ask/question.h"
#include "fovea/base/json.h"
#include "fovea/explain/alignment/aligner.h"

namespace fovea {

// layer, head, read, norms, convention, links, threshold, ignore_end.
std::vector<FieldInfo> align_fields();
AlignOptions align_options(const Question& question);

// {"name","layer","head","reading","confident","why"}: null for the mean of heads, of layers.
Json to_json(const MapChoice& choice);
// Its inverse. Throws Error{kBadFile}.
MapChoice map_choice_of(const Json& json);
// [[source word, target word], ...].
Json links_json(const Alignment& links);

}  // namespace fovea
