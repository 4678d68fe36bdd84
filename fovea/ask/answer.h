// What a question is answered with: a figure to draw, facts to read and numbers to compute with.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fovea/base/json.h"
#include "fovea/figure/figure.h"
#include "fovea/figure/map_data.h"
#include "fovea/io/named_tensor.h"
#include "fovea/vision/label_mask.h"

namespace fovea {

// Of each position of an axis a number, or of each head: "heads" has a grid of layers and heads.
struct AxisScores {
  Axis axis;
  std::vector<double> scores;
};

// A figure that stands beside the answer's own.
struct FigureBeside {
  std::string name;
  Figure figure;
};
// A table for other programs, a row for each head or input.
struct Records {
  std::vector<std::string> columns;
  std::vector<std::vector<Json>> rows;  // null: not known
  int digits = 0;                       // of real numbers; 0: as many as tell them apart
};

// [{column: value, ...}, ...].
Json objects_of(const Records& records);

struct Answer {
  Figure figure;
  // As docs/answers.schema.json says, but for the numbers: whole() puts them in.
  Json facts = Json::object();
  std::optional<MapData> numbers = {};   // none: those of the figure
  std::optional<LabelMask> labels = {};  // objects as numbers, as large as their picture
  // Of an explanation: over the input, and over what a decoder has read so far where that counts
  // too. Facts hold them.
  std::vector<AxisScores> scores = {};
  std::vector<FigureBeside> beside = {};  // of a checked explanation "grades" and "curves"
  // Of files of numbers, in place of those: what the facts say otherwise, or what would be too long
  // in them. Made when asked for, by any thread; owns what it uses.
  std::function<MapData()> numbers_apart = nullptr;
  // Of an answer that is more than maps: numbers with a name each, which the facts and files of
  // several arrays hold in place of those. Made as those apart are.
  std::function<std::vector<NamedTensor>()> arrays = nullptr;
  std::optional<Records> records = {};  // what a file of lines holds, where it is no map
  std::vector<std::string> notes = {};  // what to tell people beside it
};

inline constexpr int kFactsVersion = 1;

// The weights that the answer is about, with labels on both axes. Throws Error{kUnsupported} if the
// figure shows none.
MapData numbers_of(const Answer& answer);
// The facts with those numbers in "result": rows, cols and weights, or panels with weights each; or
// the arrays by their names.
Json whole(const Answer& answer);

}  // namespace fovea
