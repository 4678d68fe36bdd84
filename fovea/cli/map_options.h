// What every verb that shows maps of a run has in common: its options, and showing.
#pragma once

#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include "fovea/capture/run.h"
#include "fovea/cli/command.h"
#include "fovea/render/figure_file.h"
#include "fovea/render/page.h"
#include "fovea/render/view.h"

namespace fovea {

// --site --layer --head --token --column --view --words --colors --json --out
std::vector<Option> map_options();
// Those of them that a verb names, which are then the same everywhere.
std::vector<Option> map_options(std::initializer_list<std::string_view> names);

// Checks what can be checked before any work: the suffix of --out, colours, contradictions. Throws
// Error{kInvalidArgument}.
void check_map_args(const Args& args);

// The suffix of --out, and options that only figures have.
void check_out_suffix(const Args& args);
// Throws Error{kInvalidArgument} for --colors where only numbers are given out.
void check_colors(const Args& args);

ViewChoice view_choice(const Args& args);
// --colors, --scale and --sidecar.
FigureOptions figure_options(const Args& args);

// Writes --out as a page, with --view and --colors.
void write_run_page(const Run& run, const Args& args, PageOptions options);

// Draws the chosen view in the terminal, or writes it to --out or as JSON. Without a choice: what
// the run is, and all heads of the last layer. `kind` is what is shown without --site.
// `preface` comes before a drawing in the terminal.
void show_run(const Run& run, const Args& args, std::optional<SiteKind> kind = {},
              const std::string& preface = "");

}  // namespace fovea
