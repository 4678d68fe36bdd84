// What a question is answered with: a figure to draw, facts to read and numbers to compute with.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/base/json.h"
#include "fovea/figure/explanation_page.h"
#include "fovea/figure/figure.h"
#include "fovea/figure/map_data.h"
#include "fovea/io/named_tensor.h"
#include "fovea/vision/label_mask.h"

namespace fovea {

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
  // The scores of an explanation: over the input and, where that counts too, over what a decoder
  // has read so far. The facts hold them.
  std::vector<AxisScores> scores = {};
  std::vector<FigureBeside> beside = {};  // a checked explanation has "grades" and "curves"
  // What files of numbers hold instead, where the facts say it in another way or it would be too
  // long for them. It is made when asked for, by any thread, and owns what it uses.
  std::function<MapData()> numbers_apart = nullptr;
  // An answer that is more than maps has arrays with names. The facts and files of several arrays
  // hold these instead. They are made as `numbers_apart` is.
  std::function<std::vector<NamedTensor>()> arrays = nullptr;
  std::optional<Records> records = {};  // what a file of lines holds, where it is no map
  std::vector<std::string> notes = {};  // what to tell people beside it
};

// What an answer is about.
struct AnswerAbout {
  Json question;
  Json model;
  Json input;
  Json outputs = Json::object();
  Json axes = Json::array();
  std::vector<std::string> notes = {};  // they come before the answer's own
};
// Puts what all answers say around the facts of this one.
void complete_facts(Answer& answer, AnswerAbout about);

// The weights that the answer is about, with labels on both axes. Throws Error{kUnsupported} if the
// figure shows none.
MapData numbers_of(const Answer& answer);
// The figure of that name beside its own; null: there is none.
const Figure* find_beside(const Answer& answer, std::string_view name);
// The facts with those numbers in "result": rows, cols and weights, or panels with weights each; or
// the arrays by their names.
Json whole(const Answer& answer);

}  // namespace fovea
