// An explanation on one offline page of its own: the figure, how far it can be believed where that
// was checked, what the method answers and when it misleads, and every number.
#pragma once

#include <filesystem>
#include <string>

#include "fovea/figure/explanation_page.h"
#include "fovea/render/figure_file.h"

namespace fovea {

std::string explanation_html(const ExplanationPage& page, const FigureOptions& options = {});

// Throws Error{kIo}; what was at `path` stays if it cannot be written whole.
void write_page(const std::filesystem::path& path, const ExplanationPage& page,
                const FigureOptions& options = {});

}  // namespace fovea
