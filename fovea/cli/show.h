// One content, every way out: drawn in the terminal, written as a figure or as numbers.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "fovea/cli/command.h"
#include "fovea/cli/map_out.h"
#include "fovea/cli/terminal.h"
#include "fovea/render/figure_file.h"
#include "fovea/vision/label_mask.h"

namespace fovea {

// Numbers are made when they are asked for, by any thread and whenever: the functions own what they
// use and refer to nothing of what made them.
struct Content {
  Figure figure;
  std::function<MapData()> data = nullptr;  // .npy, .npz, .safetensors and .csv
  std::function<Json()> json = nullptr;     // .json and --json
  // Objects as numbers, as large as their picture; null where there are none.
  std::function<LabelMask()> labels = nullptr;
  std::function<std::string()> csv = nullptr;  // .csv, where it is not as `data` has it
  // Writes .npy, .npz, .safetensors and .csv instead of `data`; null: as `data` has it.
  std::function<void(const std::filesystem::path& path)> write_data = nullptr;
  // What the terminal draws instead, where that tells more.
  std::optional<Figure> told = {};
};

// By --out, --json and, where there are labels, --mask-out; without both in the terminal, below
// `preface`. A table is shown there beside --out too.
void show(const Content& content, const Args& args, const std::string& preface = "");

// A figure as the terminal shows it, in its colours or those of --colors.
std::string drawn(const Figure& figure, const Args& args);

// Throws Error{kInvalidArgument} unless --out can hold a table and what belongs to figures alone
// goes with one. `what` is written: "scores".
void check_table_out(const Args& args, std::string_view what);

// What a run has written, with "peak_memory_bytes" of this process beside it. Maps do not have it:
// they are the same from run to run.
Json with_peak_memory(Json answer);

// Throws Error{kInvalidArgument} if --mask-out is no .png.
void check_mask_out(const Args& args);

}  // namespace fovea
