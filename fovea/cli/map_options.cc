#include "fovea/cli/map_options.h"

#include <algorithm>
#include <filesystem>

#include "fovea/ask/numbers_file.h"
#include "fovea/base/error.h"
#include "fovea/cli/interrupt.h"
#include "fovea/cli/outputs.h"
#include "fovea/cli/terminal.h"
#include "fovea/render/figure_file.h"
#include "fovea/render/page.h"

namespace fovea {
namespace {

std::vector<std::string> color_names() {
  std::vector<std::string> names;
  for (const std::string_view name : color_map_names()) names.emplace_back(name);
  return names;
}

void check_colors(const Args& args) {
  const bool data = args.has("out") ? is_data_suffix(args["out"]) : args.flag("json");
  if (!args.has("colors") || !data) return;
  fail(ErrorKind::kInvalidArgument,
       "--colors is {} but numbers are {}, which have no colours; leave it out, or give --out "
       "FILE.png, .svg or .pdf",
       args["colors"], args.has("out") ? "written" : "printed");
}

std::vector<Option> all_map_options() {
  return {
      Option::text("head", "N|mean|max|all",
                   "from 0 (default: all; their mean where one map is shown)"),
      Option::choice("colors", color_names(), "the colour map (default: what suits the view)"),
      Option::flag("json", "print question and answer as JSON (docs/answers.md)"),
      Option::text("out", "FILE",
                   "write a file: .png .svg .pdf, .html with all heads to move through, or the "
                   "numbers as " +
                       data_suffixes()),
      Option::integer("pixels", "N", "pixels of a .png per unit, 1 to 4 (default: 2)", 1),
      Option::flag("svg-text",
                   "text of a .svg as text, to be edited and searched (its font is Inter), not as "
                   "outlines"),
      Option::flag("sidecar", "also write what a figure or .npy shows to FILE.json")};
}

}  // namespace

FigureOptions figure_options(const Args& args) {
  FigureOptions options{.svg_text = args.flag("svg-text"), .sidecar = args.flag("sidecar")};
  if (args.has("colors")) options.colors = args["colors"];
  if (args.has("pixels")) {
    const int64_t pixels = args.integer("pixels");
    if (pixels > kMostPixels) {
      fail(ErrorKind::kInvalidArgument, "--pixels is {} but a .png takes 1 to {} pixels per unit",
           pixels, kMostPixels);
    }
    options.pixels = static_cast<int>(pixels);
  }
  return options;
}

std::vector<Option> map_options(std::initializer_list<std::string_view> names) {
  std::vector<Option> options = all_map_options();
  std::erase_if(options,
                [&](const Option& option) { return std::ranges::count(names, option.name) == 0; });
  return options;
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
  check_figure_args(args);
}

void check_figure_args(const Args& args) {
  std::vector<std::string> figures;  // options that name one
  if (args.has("out") && is_figure_suffix(args["out"])) figures.emplace_back("out");
  if (args.knows("check-out") && args.has("check-out")) figures.emplace_back("check-out");
  figure_options(args);  // refuses what it cannot take
  for (const std::string name : {"pixels", "svg-text", "sidecar"}) {
    const bool sidecar = name == "sidecar";
    const bool array = sidecar && args.has("out") && is_array_suffix(args["out"]);
    const bool taken = !figures.empty() && (!sidecar || figures[0] == "out");
    if (args.has(name) && !taken && !array) {
      fail(ErrorKind::kInvalidArgument,
           "--{} is for figures{}; give --out FILE.png, .svg or .pdf too", name,
           sidecar ? " and .npy" : "");
    }
  }
  const auto is_svg = [&](const std::string& option) {
    return figure_format(args[option]) == FigureFormat::kSvg;
  };
  if (args.flag("svg-text") && std::ranges::none_of(figures, is_svg)) {
    fail(ErrorKind::kInvalidArgument,
         "--svg-text is for .svg but --{0} is '{1}'; leave it out, or give --{0} FILE.svg",
         figures[0], args[figures[0]]);
  }
  check_colors(args);
}

void write_run_page(const Run& run, const Args& args, PageOptions options) {
  if (args.has("colors")) options.colors = args["colors"];
  {
    const InterruptGuard guard;
    write_page(args["out"], run, options);
  }
  write_stdout(wrote_page_line(args["out"]));
}

}  // namespace fovea
