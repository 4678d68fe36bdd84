// `fovea image --out page.html`: the maps of a picture on one offline page.
#pragma once

#include "fovea/cli/image/view.h"

namespace fovea {

// Throws Error{kInvalidArgument} for options that only drawings have.
void check_image_page(const Args& args);

// With every layer, or where that would be large with the last one alone, which is then said.
// Throws as write_page does.
void write_image_page(const ImageRun& run);

}  // namespace fovea
