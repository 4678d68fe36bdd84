// An explanation on one page of its own.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "fovea/ask/answer.h"
#include "fovea/render/figure_file.h"

namespace fovea {

// A drawing to stand within a page, read out as `label`: without the declaration, which has no
// place there, and with `name` before the names within, for those of two drawings are the same.
std::string drawing_html(std::string svg, std::string_view label, std::string_view name);

// One offline page: the figure, the card where there is one, what the method answers and when it
// misleads, and every number.
// Throws Error{kIo}; what was at `path` stays if it cannot be written whole.
void write_explanation_page(const std::filesystem::path& path, const Answer& answer,
                            const FigureOptions& options);

}  // namespace fovea
