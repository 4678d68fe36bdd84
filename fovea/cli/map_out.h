// Maps as data: arrays, JSON and CSV for other programs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "fovea/base/json.h"
#include "fovea/render/figure.h"

namespace fovea {

// The numbers of a figure.
struct MapData {
  Tensor weights;                   // f32 [rows, cols] or [panels, rows, cols]; NaN: not allowed
  std::vector<std::string> panels;  // one name per panel; empty for one matrix
  Axis rows;
  Axis cols;
  FigureText text;
};

// Rows or columns of a grid, by their numbers.
Axis numbered_axis(const char* name, int64_t count);

MapData data_of(const MatrixFigure& figure);
MapData data_of(const HeadsFigure& figure);
MapData data_of(const ReadFigure& figure);  // one row, or one column
MapData data_of(const LinesFigure& figure);
MapData data_of(const ImageFigure& figure);  // the maps of its panels, over their grid

// A field of a .csv, quoted where the text would break the line or the column.
std::string csv_text(const std::string& text);

// Labels, weights and what they are. A cell that is not allowed is null.
Json map_json(const MapData& data);

// Whether write_map_data() knows the suffix.
bool is_data_suffix(const std::filesystem::path& path);
// ".npy, .npz, .safetensors, .json, .csv": for messages.
std::string data_suffixes();

// By suffix: .npy the weights; .npz and .safetensors the weights as `weights`, with labels and
// caption in safetensors' metadata; .json as map_json(); .csv one line per row with labels. Cells
// that are not allowed are 0 in arrays and empty in CSV. Atomic. Throws Error{kInvalidArgument} for
// another suffix.
void write_map_data(const std::filesystem::path& path, const MapData& data);

}  // namespace fovea
