// `fovea image --text`: how well texts go with the picture, for people and programs.
#pragma once

#include <string>
#include <vector>

#include "fovea/base/json.h"
#include "fovea/cli/terminal.h"
#include "fovea/engine/text_similarity.h"

namespace fovea {

// A table, the best first.
std::string similarities_text(const SimilarityFacts& facts,
                              std::vector<TextSimilarity> similarities, const Terminal& terminal);
// In the order in which the texts were given.
Json similarities_json(const SimilarityFacts& facts,
                       const std::vector<TextSimilarity>& similarities);

}  // namespace fovea
