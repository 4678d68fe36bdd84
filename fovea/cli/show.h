// Shows one content in every form: drawn in the terminal, written as a figure or as numbers.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "fovea/ask/numbers_file.h"
#include "fovea/cli/command.h"
#include "fovea/cli/terminal.h"
#include "fovea/render/figure_file.h"
#include "fovea/vision/label_mask.h"

namespace fovea {

// The functions make numbers on demand, at any time and on any thread. They own what they use and
// refer to nothing else.
struct Content {
  Figure figure;
  std::function<MapData()> data = nullptr;  // .npy, .npz, .safetensors and .csv
  std::function<Json()> json = nullptr;     // .json and --json
  // Object numbers, in an image as large as the picture; null: there are none.
  std::function<LabelMask()> labels = nullptr;
  std::function<std::string()> csv = nullptr;  // .csv, where it is not as `data` has it
  // Writes .npy, .npz, .safetensors and .csv instead of `data`; null: as `data` has it.
  std::function<void(const std::filesystem::path& path)> write_data = nullptr;
  // What stands beside a .npy, which holds numbers alone: where they come from, and names.
  std::function<Json()> sidecar = nullptr;
  // What the terminal draws instead, if that shows more.
  std::optional<Figure> told = {};
};

// Writes by --out, --json and, if there are labels, --mask-out. Without --out and --json it draws
// in the terminal, below `preface`. A table is shown there beside --out too.
void show(const Content& content, const Args& args, const std::string& preface = "");

// A figure as the terminal shows it, in its own colours or those of a name.
std::string drawn(const Figure& figure, const Terminal& terminal, std::string_view colors = "");
// The same on standard output, in the colours of --colors.
std::string drawn(const Figure& figure, const Args& args);

// Throws Error{kInvalidArgument} unless --out can hold a table, and for options that only figures
// have without a figure. `what` is written: "scores".
void check_table_out(const Args& args, std::string_view what);

// Adds "peak_memory_bytes" of this process to what a run has written. Maps do not have it, because
// they are the same from run to run.
Json with_peak_memory(Json answer);

// Throws Error{kInvalidArgument} if --mask-out is no .png.
void check_mask_out(const Args& args);

}  // namespace fovea
