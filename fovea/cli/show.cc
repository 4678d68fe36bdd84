#include "fovea/cli/show.h"

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/process_memory.h"
#include "fovea/base/utf8.h"
#include "fovea/cli/draw/draw.h"
#include "fovea/cli/draw/text.h"
#include "fovea/cli/interrupt.h"
#include "fovea/cli/map_options.h"
#include "fovea/cli/outputs.h"
#include "fovea/cli/terminal.h"
#include "fovea/render/png.h"

namespace fovea {
namespace {

void write_content(const std::filesystem::path& path, const Content& content, const Args& args) {
  const InterruptGuard guard;
  if (lower_suffix(path) == ".json") {
    const std::string text = content.json().dump(1) + "\n";
    write_file_atomic(path, [&](FileWriter& file) { file.write(text); });
  } else if (content.csv && lower_suffix(path) == ".csv") {
    const std::string text = content.csv();
    write_file_atomic(path, [&](FileWriter& file) { file.write(text); });
  } else if (is_data_suffix(path) && content.write_data) {
    content.write_data(path);
  } else if (is_data_suffix(path)) {
    write_map_data(path, content.data());
  } else {
    write_figure(path, content.figure, figure_options(args));
  }
  if (is_array_suffix(path) && args.knows("sidecar") && args.flag("sidecar") && content.sidecar) {
    std::filesystem::path beside = path;
    beside += ".json";
    const std::string text = content.sidecar().dump(2) + "\n";
    write_file_atomic(beside, [&](FileWriter& file) { file.write(text); });
  }
}

void write_labels(const std::filesystem::path& path, const Content& content) {
  const InterruptGuard guard;
  write_png(path, content.labels());
}

std::string drawn_sheet(const SheetFigure& sheet, const Terminal& terminal,
                        std::string_view colors) {
  std::string text = title_lines(sheet.text, terminal);
  for (const SheetPart& part : sheet.parts) {
    if (!part.heading.empty()) text += terminal.bold(printable(part.heading)) + "\n";
    const std::string body = drawn(part.figure, terminal, colors);
    const size_t begin = std::min(body.find_first_not_of('\n'), body.size());
    text += body.substr(begin, body.find_last_not_of('\n') + 1 - begin) + "\n\n";
  }
  return text + caption_lines(sheet.text, terminal);
}

}  // namespace

std::string drawn(const Figure& figure, const Terminal& terminal, std::string_view colors) {
  if (const auto* sheet = std::get_if<SheetFigure>(&figure)) {
    return drawn_sheet(*sheet, terminal, colors);
  }
  // Most terminals are dark, so low is dark there, also behind text.
  const ColorMap& own = colors_of(figure, colors);
  const ColorMap& chosen = colors.empty() && own.name() == "paper" ? inferno() : own;
  return std::visit(
      [&](const auto& each) -> std::string {
        if constexpr (requires { draw(each, terminal, chosen); }) {
          return draw(each, terminal, chosen);
        } else {
          return "";  // a sheet, drawn above
        }
      },
      figure);
}

std::string drawn(const Figure& figure, const Args& args) {
  return drawn(figure, stdout_terminal(), args.has("colors") ? args["colors"] : "");
}

Json with_peak_memory(Json answer) {
  const std::optional<uint64_t> peak = peak_memory_bytes();
  if (peak) answer.set("peak_memory_bytes", static_cast<int64_t>(*peak));
  return answer;
}

void show(const Content& content, const Args& args, const std::string& preface) {
  const bool mask = content.labels != nullptr && args.has("mask-out");
  if (args.has("out")) write_content(args["out"], content, args);
  if (mask) write_labels(args["mask-out"], content);
  if (args.flag("json")) return write_stdout(content.json().dump(1) + "\n");
  const bool table = std::holds_alternative<TableFigure>(content.figure);
  if (table || !args.has("out")) {
    write_stdout(preface + drawn(content.told ? *content.told : content.figure, args) +
                 (args.has("out") ? "\n" : ""));
  }
  if (args.has("out")) write_stdout(wrote_line(args["out"]));
  if (mask) write_stdout(wrote_line(args["mask-out"]));
}

void check_table_out(const Args& args, std::string_view what) {
  const std::string suffix = args.has("out") ? lower_suffix(args["out"]) : "";
  if (args.has("out") && suffix != ".json" && suffix != ".csv" && !is_figure_suffix(args["out"])) {
    fail(ErrorKind::kInvalidArgument,
         "--out is '{}' but {} are written to .json, .csv, .png, .svg or .pdf; give one of these "
         "suffixes",
         args["out"], what);
  }
  check_figure_args(args);
}

void check_mask_out(const Args& args) {
  if (args.has("mask-out") && lower_suffix(args["mask-out"]) != ".png") {
    fail(ErrorKind::kInvalidArgument,
         "--mask-out is '{}' but masks are written as .png; give that suffix", args["mask-out"]);
  }
}

}  // namespace fovea
