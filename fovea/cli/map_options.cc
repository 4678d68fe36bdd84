#include "fovea/cli/map_options.h"

#include <algorithm>
#include <filesystem>

#include "fovea/base/error.h"
#include "fovea/base/progress.h"
#include "fovea/cli/interrupt.h"
#include "fovea/cli/map_out.h"
#include "fovea/cli/outputs.h"
#include "fovea/cli/run_summary.h"
#include "fovea/cli/show.h"
#include "fovea/cli/site_options.h"
#include "fovea/cli/terminal.h"
#include "fovea/render/figure_file.h"
#include "fovea/render/page.h"

namespace fovea {
namespace {

std::vector<std::string> map_views() {
  return {"matrix", "read", "reading", "lines", "heads"};
}

std::vector<std::string> color_names() {
  std::vector<std::string> names;
  for (const std::string_view name : color_map_names()) names.emplace_back(name);
  return names;
}

bool has_map_view(const Args& args) {
  return args.has("view") && std::ranges::count(map_views(), args["view"]) > 0;
}

// What was asked for, or what suits the rest of the choice.
std::string map_view_name(const Args& args) {
  if (has_map_view(args)) return args["view"];
  if (args.has("token") || args.flag("column")) return "read";
  return args.has("head") && args["head"] != "all" ? "matrix" : "heads";
}

Figure make_figure(const Run& run, const Args& args, const ViewChoice& choice) {
  const std::string view = map_view_name(args);
  if (view == "matrix") return matrix_view(run, choice);
  if (view == "read") return read_view(run, choice);
  // As numbers a reading is the matrix.
  if (view == "reading" && choice.exact) return matrix_view(run, choice);
  if (view == "reading") return reading_view(run, choice);
  if (view == "lines") return lines_view(run, choice);
  return heads_view(run, choice);
}

MapData data_of_any(const Figure& figure) {
  if (const auto* matrix = std::get_if<MatrixFigure>(&figure)) return data_of(*matrix);
  if (const auto* heads = std::get_if<HeadsFigure>(&figure)) return data_of(*heads);
  if (const auto* read = std::get_if<ReadFigure>(&figure)) return data_of(*read);
  return data_of(std::get<LinesFigure>(figure));
}

bool any_choice(const Args& args) {
  for (const char* name : {"site", "layer", "head", "token", "column", "view", "words"}) {
    if (args.has(name)) return true;
  }
  return false;
}

}  // namespace

FigureOptions figure_options(const Args& args) {
  FigureOptions options{.sidecar = args.flag("sidecar")};
  if (args.has("colors")) options.colors = args["colors"];
  if (args.has("scale")) {
    const int64_t scale = args.integer("scale");
    if (scale > kLargestScale) {
      fail(ErrorKind::kInvalidArgument, "--scale is {} but a .png takes 1 to {} pixels per unit",
           scale, kLargestScale);
    }
    options.scale = static_cast<int>(scale);
  }
  return options;
}

std::vector<Option> map_options() {
  return {
      site_option("which attention, where the model has several"),
      Option::text("layer", "N|all", "from 0; all: every layer's heads (default: the last)"),
      Option::text("head", "N|mean|max|all",
                   "from 0 (default: all; their mean where one map is shown)"),
      Option::text("token", "WORD|i",
                   "one token (a word, with --words): by its text, its number from 0, or #number "
                   "where the text itself is a number"),
      Option::flag("column", "with --token: who attends to it, not what it attends to"),
      Option::choice("view", map_views(),
                     "what to draw (default: heads; matrix for one head, read for one token)"),
      Option::flag("words", "put the pieces of words together: rows by mean, columns by sum"),
      Option::choice("colors", color_names(), "the colour map (default: what suits the view)"),
      Option::flag("json", "print the weights and labels as JSON"),
      Option::text("out", "FILE",
                   "write a file: .png .svg .pdf, .html with all heads to move through, or the "
                   "numbers as " +
                       data_suffixes()),
      Option::integer("scale", "N", "pixels of a .png per unit, 1 to 4 (default: 2)", 1),
      Option::flag("sidecar", "also write what a figure shows to FILE.json")};
}

std::vector<Option> map_options(std::initializer_list<std::string_view> names) {
  std::vector<Option> options = map_options();
  std::erase_if(options,
                [&](const Option& option) { return std::ranges::count(names, option.name) == 0; });
  return options;
}

void check_colors(const Args& args) {
  const bool data = args.has("out") ? is_data_suffix(args["out"]) : args.flag("json");
  if (!args.has("colors") || !data) return;
  fail(ErrorKind::kInvalidArgument,
       "--colors is {} but numbers are {}, which have no colours; leave it out, or give --out "
       "FILE.png, .svg or .pdf",
       args["colors"], args.has("out") ? "written" : "printed");
}

void check_out_suffix(const Args& args) {
  if (args.has("out")) {
    const std::filesystem::path path = args["out"];
    if (!is_data_suffix(path) && !is_figure_suffix(path) && !is_page_suffix(path)) {
      fail(ErrorKind::kInvalidArgument,
           "--out is '{}' but maps are written to .png, .svg, .pdf, .html, {}; give one of these "
           "suffixes",
           path.string(), data_suffixes());
    }
  }
  const bool figure = args.has("out") && is_figure_suffix(args["out"]);
  figure_options(args);  // refuses what it cannot take
  for (const char* name : {"scale", "sidecar"}) {
    if (args.has(name) && !figure) {
      fail(ErrorKind::kInvalidArgument,
           "--{} is for figures; give --out FILE.png, .svg or .pdf too", name);
    }
  }
  check_colors(args);
}

void check_map_args(const Args& args) {
  check_out_suffix(args);
  if (args.flag("column") && !args.has("token")) {
    fail(ErrorKind::kInvalidArgument,
         "--column shows who attends to a token, but none is chosen; give --token too");
  }
  if (args.flag("json") && args.has("out") && is_page_suffix(args["out"])) {
    fail(ErrorKind::kInvalidArgument, "--json has no place on a page; leave it out");
  }
  view_choice(args);
  check_outputs(args);
}

ViewChoice view_choice(const Args& args) {
  ViewChoice choice;
  choice.kind = site_kind(args);
  const std::string view = map_view_name(args);
  if (args.has("layer") && args["layer"] == "all") {
    if (view != "heads") {
      fail(ErrorKind::kInvalidArgument,
           "--layer all is for --view heads but the view is {}; give one layer", view);
    }
    choice.all_layers = true;
  } else if (args.has("layer")) {
    choice.layer = parse_integer("--layer", args["layer"]);
    if (*choice.layer < 0) {
      fail(ErrorKind::kInvalidArgument, "--layer is {} but layers are counted from 0",
           *choice.layer);
    }
  }
  if (args.has("head")) choice.head = parse_head(args["head"]);
  if (args.has("token")) choice.token = args["token"];
  choice.column = args.flag("column");
  choice.words = args.flag("words");
  if (view == "heads" && choice.head.kind != HeadChoice::Kind::kAll) {
    fail(ErrorKind::kInvalidArgument,
         "--view heads shows all heads but --head is {}; use --view matrix for one map",
         args["head"]);
  }
  // Files of numbers and JSON hold every cell.
  choice.exact = args.flag("json") || (args.has("out") && is_data_suffix(args["out"]));
  return choice;
}

void write_run_page(const Run& run, const Args& args, PageOptions options) {
  if (has_map_view(args)) options.view = args["view"];
  if (args.has("colors")) options.colors = args["colors"];
  {
    const InterruptGuard guard;
    write_page(args["out"], run, options);
  }
  std::error_code ignored;
  const std::string size = format_bytes(std::filesystem::file_size(args["out"], ignored));
  write_stdout(fmt::format("wrote {}, {}\n", printable(args["out"]), size));
}

void show_run(const Run& run, const Args& args, std::optional<SiteKind> kind,
              const std::string& preface) {
  check_map_args(args);
  ViewChoice choice = view_choice(args);
  if (args.has("out") && is_page_suffix(args["out"])) {
    write_run_page(run, args, {.choice = choice, .opens_at = kind});
    return;
  }
  if (!choice.kind) choice.kind = kind;
  const Figure figure = make_figure(run, args, choice);
  const auto data = [figure] { return data_of_any(figure); };
  const auto json = [figure] { return map_json(data_of_any(figure)); };
  const std::string summary = any_choice(args) ? "" : run_summary(run, stdout_terminal()) + "\n";
  show({figure, data, json}, args, preface + summary);
}

}  // namespace fovea
