// Scores of a folder of pictures: a table, JSON, or a line for each picture.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fovea/cli/command.h"

namespace fovea {

struct ScoreRow {
  std::string key;    // in JSON and CSV: "mean_of_heads"
  std::string label;  // in the table: "mean of heads"
  std::string group;  // the heading above; rows of one group follow each other
};

// A score of the folder is the mean of its pictures' scores.
struct ScoreReport {
  struct Picture {
    std::string name;
    int64_t objects = 0;
    std::vector<std::vector<double>> scores;  // [model][row]
  };

  std::string kind;   // "masks"
  std::string title;  // what the numbers are: "Jaccard index with the true masks"
  std::string model;
  int64_t layer = 0;
  std::vector<std::string> columns;  // of the models: their own first, then "random weights"
  std::vector<ScoreRow> rows;
  std::vector<Picture> pictures;
  std::vector<std::string> notes;  // below the table

  double mean(size_t model_index, size_t row) const;
  int64_t objects() const;
};

// Writes --out, and prints JSON or the table by --json.
void show_report(const ScoreReport& report, const Args& args);

}  // namespace fovea
