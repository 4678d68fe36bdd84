#include "fovea/cli/show.h"

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/process_memory.h"
#include "fovea/cli/draw/draw.h"
#include "fovea/cli/interrupt.h"
#include "fovea/cli/map_options.h"
#include "fovea/cli/outputs.h"
#include "fovea/cli/terminal.h"
#include "fovea/render/png.h"

namespace fovea {
namespace {

struct TerminalDrawing {
  const Terminal& terminal;
  const ColorMap& colors;

  std::string operator()(const StepsFigure&) const {
    fail(ErrorKind::kInternal, "steps are written as text in the terminal, not drawn");
  }
  template <typename AnyFigure>
  std::string operator()(const AnyFigure& figure) const {
    return draw(figure, terminal, colors);
  }
};

// Where there are negative values, the map for differences.
std::string_view terminal_colors(const Figure& figure) {
  const bool differences = std::visit(
      [](const auto& each) {
        if constexpr (requires { each.scale.low; }) return each.scale.low < 0;
        return false;
      },
      figure);
  return differences ? "RdBu" : "inferno";
}

void write_content(const std::filesystem::path& path, const Content& content, const Args& args) {
  const InterruptGuard guard;
  if (lower_suffix(path) == ".json") {
    const std::string text = content.json().dump(1) + "\n";
    write_file_atomic(path, [&](FileWriter& file) { file.write(text); });
  } else if (is_data_suffix(path) && content.write_data) {
    content.write_data(path);
  } else if (is_data_suffix(path)) {
    write_map_data(path, content.data());
  } else {
    write_figure(path, content.figure, figure_options(args));
  }
}

void write_labels(const std::filesystem::path& path, const Content& content) {
  const InterruptGuard guard;
  write_png(path, content.labels());
}

}  // namespace

Json with_peak_memory(Json answer) {
  const std::optional<uint64_t> peak = peak_memory_bytes();
  if (peak) answer.set("peak_memory_bytes", static_cast<int64_t>(*peak));
  return answer;
}

void show(const Content& content, const Args& args, const std::string& preface) {
  const bool mask = content.labels != nullptr && args.has("mask-out");
  if (args.has("out")) write_content(args["out"], content, args);
  if (mask) write_labels(args["mask-out"], content);
  if (args.flag("json")) {
    write_stdout(content.json().dump(1) + "\n");
  } else if (args.has("out")) {
    write_stdout(wrote_line(args["out"]));
  } else {
    const Terminal terminal = stdout_terminal();
    const ColorMap& colors =
        color_map(args.has("colors") ? args["colors"] : terminal_colors(content.figure));
    write_stdout(preface + (content.text
                                ? content.text(terminal)
                                : std::visit(TerminalDrawing{terminal, colors}, content.figure)));
  }
  if (mask && !args.flag("json")) write_stdout(wrote_line(args["mask-out"]));
}

void show(const TableContent& table, const Args& args) {
  if (args.has("out")) {
    const bool csv = lower_suffix(args["out"]) == ".csv";
    const std::string content = csv ? table.csv() : table.json().dump(1) + "\n";
    const InterruptGuard guard;
    write_file_atomic(args["out"], [&](FileWriter& file) { file.write(content); });
  }
  if (args.flag("json")) return write_stdout(table.json().dump(1) + "\n");
  write_stdout(table.text(stdout_terminal()) +
               (args.has("out") ? "\n" + wrote_line(args["out"]) : ""));
}

void check_table_out(const Args& args, std::string_view what) {
  if (!args.has("out")) return;
  const std::string suffix = lower_suffix(args["out"]);
  if (suffix == ".json" || suffix == ".csv") return;
  fail(ErrorKind::kInvalidArgument,
       "--out is '{}' but {} are written to .json or .csv; give one of these suffixes", args["out"],
       what);
}

void check_mask_out(const Args& args) {
  if (args.has("mask-out") && lower_suffix(args["mask-out"]) != ".png") {
    fail(ErrorKind::kInvalidArgument,
         "--mask-out is '{}' but masks are written as .png; give that suffix", args["mask-out"]);
  }
}

}  // namespace fovea
