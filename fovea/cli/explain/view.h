// Explanations for people and programs: shaded text, a picture with its map, a grid of heads.
#pragma once

#include <string>

#include "fovea/cli/explain/question.h"
#include "fovea/cli/show.h"
#include "fovea/explain/faithfulness/faithfulness.h"

namespace fovea {

// The figure, and the numbers: .npy holds one for each input position. Refers to none of what it is
// made from.
Content explanation_content(const ExplainQuestion& question, const Explanation& explanation,
                            const FaithfulnessCard* card = nullptr);

// A drawing to stand within a page, read out as `label`: without the declaration, which has no
// place there, and with `name` before the names within, for those of two drawings are the same.
std::string drawing_html(std::string svg, std::string_view label, std::string_view name);

// One offline page: the figure, the card where there is one, what the method answers and when it
// misleads, and every number.
// Throws Error{kIo}; what was at `path` stays if it cannot be written whole.
void write_explanation_page(const std::filesystem::path& path, const ExplainQuestion& question,
                            const Explanation& explanation, const FigureOptions& options,
                            const FaithfulnessCard* card = nullptr);

}  // namespace fovea
