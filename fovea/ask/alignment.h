// How to read an alignment from cross-attention. Questions about one text and about many texts
// share this.
#pragma once

#include <optional>
#include <vector>

#include "fovea/ask/field.h"
#include "fovea/ask/question.h"
#include "fovea/base/json.h"
#include "fovea/explain/alignment/aligner.h"

namespace fovea {

// The fields layer, head, read, norms, convention, links, threshold, ignore_end.
std::vector<FieldInfo> align_fields();
AlignOptions align_options(const Question& question);

template <typename Number>
Json number_or_null(const std::optional<Number>& number) {
  return number ? Json(*number) : Json();
}

// {"name","layer","head","reading","confident","why"}. A head or layer is null for a mean over all
// of them.
Json to_json(const MapChoice& choice);
// Its inverse. Throws Error{kBadFile}.
MapChoice map_choice_of(const Json& json);
// [[source word, target word], ...].
Json links_json(const Alignment& links);

}  // namespace fovea
