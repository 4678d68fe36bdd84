// Scores pictures against the truth about them. Each picture gives a row of numbers, and the answer
// is made from the rows.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fovea/ask/answer.h"
#include "fovea/ask/field.h"
#include "fovea/ask/finished_run.h"
#include "fovea/ask/many/counter.h"

namespace fovea {

struct ScoreRow {
  std::string key;    // in JSON and CSV: "mean_of_heads"
  std::string label;  // in the table: "mean of heads"
  std::string group;  // the heading above; rows of one group follow each other
};

// A score of all pictures is the mean of their scores.
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

// What is kept of each picture: its true objects, the layer that was read, and the scores.
std::vector<double> score_numbers(int64_t objects, int64_t layer,
                                  const std::vector<std::vector<double>>& scores);
// The report of such rows, but for what the kind says itself.
ScoreReport report_of(const ManyAsked& asked, const ManyState& state);
Answer scores_answer(const ScoreReport& report);

// One run of a model on a picture, scored. Without objects a picture is left out.
struct PictureScorer {
  std::function<int64_t(const Truth& truth, PictureSize picture)> objects;
  std::function<std::vector<double>(const PictureInput& input, const Run& run, const Truth& truth)>
      scores;
};
// Also of the model with random weights, where the question's `baseline` wants it.
std::unique_ptr<Counter> picture_score_counter(const ManyAsked& asked, PictureScorer scorer);

// The model, and where `baseline` is asked for the same with random weights.
std::vector<Engine> scored_engines(const ManyAsked& asked);

// Throws Error{kBadFile} unless it is there and as large as the picture.
const LabelMask& true_mask(const Truth& truth, PictureSize picture);
// What is said of them, or the boxes around the objects of the mask. Throws Error{kBadFile} where
// there is neither.
std::vector<TrueObject> true_objects(const Truth& truth, PictureSize picture);

// baseline, seed.
std::vector<FieldInfo> baseline_fields();

}  // namespace fovea
