// Writes the numbers of answers for other programs: arrays, JSON and CSV.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "fovea/ask/answer.h"
#include "fovea/base/json.h"
#include "fovea/figure/map_data.h"

namespace fovea {

// A field of a .csv, quoted where the text would break the line or the column.
std::string csv_text(const std::string& text);

// A table's labels and cells, one row per line.
std::string table_csv(const TableFigure& table);

// The same of a table for programs: a line for each of its rows.
std::string records_csv(const Records& records);

// Where numbers come from: program, title, caption and the figure's metadata.
Json about_map(const MapData& data);
Json about_answer(const Answer& answer);
// The same with labels, weights and what they are. A cell that is not allowed is null.
Json map_json(const MapData& data);
// What stands beside a .npy: all of that but the numbers.
Json answer_sidecar(const Answer& answer);

// Whether write_map_data() knows the suffix.
bool is_data_suffix(const std::filesystem::path& path);
// Whether it is .npy, which has no room for more than numbers.
bool is_array_suffix(const std::filesystem::path& path);
// ".npy, .npz, .safetensors, .json, .csv": for messages.
std::string data_suffixes();

// By suffix: .npy the weights; .npz and .safetensors the weights as `weights`. With them .npz has
// texts: `about`, which is about_map() as JSON, `rows`, `cols` and, of several maps, `panels`;
// safetensors has labels and caption in its metadata; .json as map_json(); .csv one line per row
// with labels. Cells that are not allowed are 0 in arrays and empty in CSV. Atomic. Throws
// Error{kInvalidArgument} for another suffix.
void write_map_data(const std::filesystem::path& path, const MapData& data);

// The array that .npy holds of an answer. Throws as numbers_of() does.
Tensor array_in(const Answer& answer);

// An answer by suffix: .json as whole(); maps as write_map_data() does; a table as .csv; several
// arrays as .npz. For an explanation .npy holds the scores, f32 [positions] or, if they are for
// heads, [layers, heads]. Its .npz and .safetensors hold `scores` and, where the method counts what
// a decoder has read, `target_scores`. Its .csv has index, name and score of each position. Throws
// as write_map_data() does, and Error{kUnsupported} for a table or several arrays under another
// suffix.
void write_numbers(const std::filesystem::path& path, const Answer& answer);
// The arrays of an answer that has several, as .npz with `about`.
void write_arrays(const std::filesystem::path& path, const Answer& answer);

}  // namespace fovea
