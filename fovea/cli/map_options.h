// Where maps go: options of every verb that draws or writes them.
#pragma once

#include <initializer_list>
#include <string_view>
#include <vector>

#include "fovea/capture/run.h"
#include "fovea/cli/command.h"
#include "fovea/render/figure_file.h"
#include "fovea/render/page.h"

namespace fovea {

// Of --head --colors --json --out --pixels --svg-text --sidecar those that a verb names, which are
// then the same everywhere.
std::vector<Option> map_options(std::initializer_list<std::string_view> names);

// Checks the suffix of --out, and options that only figures have.
void check_out_suffix(const Args& args);
// Checks only the latter.
void check_figure_args(const Args& args);

// --colors, --pixels, --svg-text and --sidecar.
FigureOptions figure_options(const Args& args);

// Writes --out as a page, with --colors.
void write_run_page(const Run& run, const Args& args, PageOptions options);

}  // namespace fovea
