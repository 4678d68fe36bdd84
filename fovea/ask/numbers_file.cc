#include "fovea/ask/numbers_file.h"

#include <fmt/format.h>

#include <cmath>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/version.h"
#include "fovea/io/npy.h"
#include "fovea/io/npz.h"
#include "fovea/io/safetensors.h"

namespace fovea {
namespace {

// For programs that count on numbers: what the mask forbids has weight 0.
Tensor without_nan(const Tensor& weights) {
  Tensor filled = weights.clone();
  for (float& weight : filled.mutable_values<float>()) {
    if (std::isnan(weight)) weight = 0;
  }
  return filled;
}

void write_csv_rows(FileWriter& writer, const MapData& data, const std::string& prefix,
                    MatrixView<const float> weights) {
  for (int64_t r = 0; r < weights.rows; ++r) {
    std::string line = prefix + csv_text(data.rows.positions[static_cast<size_t>(r)].text);
    for (int64_t c = 0; c < weights.cols; ++c) {
      const float weight = weights(r, c);
      line += std::isnan(weight) ? "," : fmt::format(",{}", weight);
    }
    writer.write(line + "\n");
  }
}

void write_csv(const std::filesystem::path& path, const MapData& data) {
  write_file_atomic(path, [&](FileWriter& writer) {
    std::string heading = data.panels.empty() ? "" : "map,";
    for (const Position& position : data.cols.positions) heading += "," + csv_text(position.text);
    writer.write(heading + "\n");
    if (data.panels.empty()) {
      write_csv_rows(writer, data, "", data.weights.matrix<float>());
      return;
    }
    for (size_t p = 0; p < data.panels.size(); ++p) {
      write_csv_rows(writer, data, csv_text(data.panels[p]) + ",",
                     data.weights.matrix<float>(static_cast<int64_t>(p)));
    }
  });
}

void write_map_json(const std::filesystem::path& path, const MapData& data) {
  write_file_atomic(path, [&](FileWriter& writer) { writer.write(map_json(data).dump() + "\n"); });
}

void write_array(const std::filesystem::path& path, const MapData& data) {
  write_npy(path, without_nan(data.weights));
}

std::vector<std::string> position_list(const Axis& axis) {
  std::vector<std::string> texts;
  for (const Position& position : axis.positions) texts.push_back(position.text);
  return texts;
}

Json about_text(const FigureText& text) {
  return Json::object({{"program", fmt::format("fovea {}", version())},
                       {"title", text.title},
                       {"caption", text.caption},
                       {"map", text.metadata}});
}

// What says where the numbers come from, beside them.
NamedTexts provenance(const Json& about) {
  return {.name = "about", .texts = {about.dump()}, .alone = true};
}

void write_map_arrays(const std::filesystem::path& path, const MapData& data) {
  std::vector<NamedTexts> texts{provenance(about_map(data))};
  if (!data.panels.empty()) texts.push_back({"panels", data.panels});
  texts.push_back({"rows", position_list(data.rows)});
  texts.push_back({"cols", position_list(data.cols)});
  write_npz(path, std::vector<NamedTensor>{{"weights", without_nan(data.weights)}}, texts);
}

void write_tensors(const std::filesystem::path& path, const MapData& data) {
  Json about = data.text.metadata;
  if (!data.panels.empty()) about.set("panels", Json::array_of(data.panels));
  write_safetensors(path, std::vector<NamedTensor>{{"weights", without_nan(data.weights)}},
                    {{"program", fmt::format("fovea {}", version())},
                     {"caption", data.text.caption},
                     {"rows", position_texts(data.rows).dump()},
                     {"cols", position_texts(data.cols).dump()},
                     {"map", about.dump()}});
}

Tensor scores_tensor(const AxisScores& of) {
  const std::vector<float> values(of.scores.begin(), of.scores.end());
  const Tensor scores = Tensor::from<float>({static_cast<int64_t>(values.size())}, values);
  return of.axis.name == "heads" ? scores.reshaped({of.axis.grid_rows, of.axis.grid_cols}) : scores;
}

std::vector<NamedTensor> score_tensors(const std::vector<AxisScores>& scores) {
  std::vector<NamedTensor> tensors{{"scores", scores_tensor(scores.front())}};
  if (scores.size() > 1) tensors.push_back({"target_scores", scores_tensor(scores.back())});
  return tensors;
}

std::string scores_csv(const std::vector<AxisScores>& scores) {
  std::string text = "axis,index,position,score\n";
  for (const AxisScores& of : scores) {
    for (size_t i = 0; i < of.scores.size(); ++i) {
      text += fmt::format("{},{},{},{:.9g}\n", of.axis.name, i, csv_text(of.axis.positions[i].text),
                          of.scores[i]);
    }
  }
  return text;
}

void write_whole_text(const std::filesystem::path& path, const std::string& text) {
  write_file_atomic(path, [&](FileWriter& writer) { writer.write(text); });
}

// `suffix` is one that holds numbers, and not .json.
void write_scores(const std::filesystem::path& path, std::string_view suffix,
                  const Answer& answer) {
  const std::vector<AxisScores>& scores = answer.scores;
  if (suffix == ".npy") {
    write_npy(path, scores_tensor(scores.front()));
  } else if (suffix == ".npz") {
    std::vector<NamedTexts> texts{provenance(about_answer(answer))};
    texts.push_back({"positions", position_list(scores.front().axis)});
    if (scores.size() > 1) texts.push_back({"target_positions", position_list(scores.back().axis)});
    write_npz(path, score_tensors(scores), texts);
  } else if (suffix == ".safetensors") {
    write_safetensors(path, score_tensors(scores),
                      {{"program", fmt::format("fovea {}", version())},
                       {"explanation", text_in(answer.figure).metadata.dump()},
                       {"positions", position_texts(scores.front().axis).dump()}});
  } else {
    write_whole_text(path, scores_csv(scores));
  }
}

struct MapFormat {
  std::string_view suffix;
  void (*write)(const std::filesystem::path&, const MapData&);
};
constexpr MapFormat kFormats[] = {{".npy", write_array},
                                  {".npz", write_map_arrays},
                                  {".safetensors", write_tensors},
                                  {".json", write_map_json},
                                  {".csv", write_csv}};

const MapFormat* map_format_of(const std::filesystem::path& path) {
  const std::string suffix = lower_suffix(path);
  for (const MapFormat& format : kFormats) {
    if (suffix == format.suffix) return &format;
  }
  return nullptr;
}

}  // namespace

std::string csv_text(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char letter : text) quoted += letter == '"' ? "\"\"" : std::string(1, letter);
  return quoted + "\"";
}

std::string records_csv(const Records& records) {
  const auto field = [&](const Json& value) {
    if (value.is_null()) return std::string();
    if (value.is_string()) return csv_text(value.as_string(""));
    if (value.is_int() || !value.is_number()) return value.dump();
    const double number = value.as_double("");
    return records.digits > 0 ? fmt::format("{:.{}g}", number, records.digits)
                              : fmt::format("{}", number);
  };
  std::string text;
  for (const std::string& column : records.columns) {
    text += (text.empty() ? "" : ",") + csv_text(column);
  }
  text += '\n';
  for (const std::vector<Json>& row : records.rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) line += (i == 0 ? "" : ",") + field(row[i]);
    text += line + '\n';
  }
  return text;
}

std::string table_csv(const TableFigure& table) {
  std::string text = csv_text(table.label_name);
  for (const TableColumn& column : table.columns) text += "," + csv_text(column.name);
  for (const TableRow& row : table.rows) {
    text += "\n" + csv_text(row.label);
    for (const TableCell& cell : row.cells) text += "," + csv_text(cell.text);
  }
  return text + "\n";
}

Json about_map(const MapData& data) {
  return about_text(data.text);
}

Json about_answer(const Answer& answer) {
  return about_text(text_in(answer.figure));
}

Json map_json(const MapData& data) {
  Json json = about_map(data);
  json.set("rows", position_texts(data.rows));
  json.set("cols", position_texts(data.cols));
  add_numbers(json, data);
  return json;
}

Json answer_sidecar(const Answer& answer) {
  Json json = about_answer(answer);
  if (!answer.scores.empty()) {
    json.set("positions", position_texts(answer.scores.front().axis));
    return json;
  }
  const MapData data = numbers_of(answer);
  if (!data.panels.empty()) json.set("panels", Json::array_of(data.panels));
  json.set("rows", position_texts(data.rows));
  json.set("cols", position_texts(data.cols));
  return json;
}

void write_arrays(const std::filesystem::path& path, const Answer& answer) {
  write_npz(path, answer.arrays(), std::vector<NamedTexts>{provenance(about_answer(answer))});
}

bool is_data_suffix(const std::filesystem::path& path) {
  return map_format_of(path) != nullptr;
}

bool is_array_suffix(const std::filesystem::path& path) {
  return lower_suffix(path) == ".npy";
}

std::string data_suffixes() {
  std::string text;
  for (const MapFormat& format : kFormats) {
    text += (text.empty() ? "" : ", ") + std::string(format.suffix);
  }
  return text;
}

void write_map_data(const std::filesystem::path& path, const MapData& data) {
  const MapFormat* format = map_format_of(path);
  if (format == nullptr) {
    fail(ErrorKind::kInvalidArgument, "'{}' has none of the suffixes that maps are written to: {}",
         path.string(), data_suffixes());
  }
  format->write(path, data);
}

Tensor array_in(const Answer& answer) {
  return answer.scores.empty() ? without_nan(numbers_of(answer).weights)
                               : scores_tensor(answer.scores.front());
}

void write_numbers(const std::filesystem::path& path, const Answer& answer) {
  const std::string suffix = lower_suffix(path);
  if (suffix == ".json") return write_whole_text(path, whole(answer).dump(1) + "\n");
  if (!answer.scores.empty() && is_data_suffix(path)) return write_scores(path, suffix, answer);
  const auto* table = std::get_if<TableFigure>(&answer.figure);
  if (table != nullptr && suffix == ".csv") return write_whole_text(path, table_csv(*table));
  if (answer.arrays && !answer.numbers_apart) {
    if (suffix == ".npz") return write_arrays(path, answer);
    fail(ErrorKind::kUnsupported, "'{}' holds one array but there are several; write them as .npz",
         path.string());
  }
  write_map_data(path, numbers_of(answer));
}

}  // namespace fovea
