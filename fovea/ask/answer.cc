#include "fovea/ask/answer.h"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/base/error.h"

namespace fovea {
namespace {

constexpr int kFactsVersion = 1;

// Row by row; what JSON cannot hold, a masked score, is null.
Json values_json(const Tensor& tensor) {
  if (tensor.rank() < 2) return Json::array_of(tensor.values<double>());
  const MatrixView<const double> view = tensor.matrix<double>();
  Json rows = Json::array();
  for (int64_t r = 0; r < view.rows; ++r) {
    rows.push_back(Json::array_of(std::span(view.row(r), static_cast<size_t>(view.cols))));
  }
  return rows;
}

// Over positions one row; of heads a row for each layer.
MapData data_of_scores(const AxisScores& of) {
  const std::vector<float> values(of.scores.begin(), of.scores.end());
  const auto count = static_cast<int64_t>(values.size());
  const bool heads = of.axis.name == "heads";
  MapData data{.weights = Tensor::from<float>(
                   {heads ? of.axis.grid_rows : 1, heads ? of.axis.grid_cols : count}, values)};
  const auto numbered = [](Axis& axis, std::string_view name, int64_t most) {
    axis.name = name;
    for (int64_t i = 0; i < most; ++i) axis.positions.push_back({.text = fmt::format("{}", i)});
  };
  if (heads) {
    numbered(data.rows, "layers", of.axis.grid_rows);
    numbered(data.cols, "heads", of.axis.grid_cols);
  } else {
    data.rows = {.name = "scores", .positions = {{.text = "score"}}};
    data.cols = of.axis;
  }
  return data;
}

}  // namespace

Json objects_of(const Records& records) {
  Json list = Json::array();
  for (const std::vector<Json>& row : records.rows) {
    Json one = Json::object();
    for (size_t i = 0; i < row.size(); ++i) one.set(records.columns[i], row[i]);
    list.push_back(std::move(one));
  }
  return list;
}

MapData numbers_of(const Answer& answer) {
  if (answer.numbers_apart) return answer.numbers_apart();
  if (answer.numbers) return *answer.numbers;
  if (!answer.scores.empty()) {
    MapData data = data_of_scores(answer.scores.front());
    data.text = text_in(answer.figure);
    return data;
  }
  return std::visit(
      [](const auto& figure) -> MapData {
        if constexpr (requires { data_of(figure); }) {
          return data_of(figure);
        } else {
          fail(ErrorKind::kUnsupported,
               "there are no maps in a table; write it as .json, .csv or a picture");
        }
      },
      answer.figure);
}

void complete_facts(Answer& answer, AnswerAbout about) {
  Json facts = Json::object({{"schema", kFactsVersion}});
  facts.set("question", std::move(about.question));
  facts.set("model", std::move(about.model));
  facts.set("input", std::move(about.input));
  if (const Json* own = answer.facts.find("outputs")) {  // that the question tells of the run's
    for (const auto& [name, value] : own->as_object("outputs")) about.outputs.set(name, value);
  }
  facts.set("outputs", std::move(about.outputs));
  facts.set("axes", std::move(about.axes));
  for (const char* name : {"site", "layer", "head", "direction", "method"}) {
    const Json* value = answer.facts.find(name);
    facts.set(name, value != nullptr ? *value : Json());
  }
  facts.set("title", text_in(answer.figure).title);
  facts.set("caption", text_in(answer.figure).caption);
  answer.notes.insert(answer.notes.begin(), about.notes.begin(), about.notes.end());
  Json notes = Json::array_of(answer.notes);
  if (const Json* told = answer.facts.find("notes")) {  // that the figure tells
    for (const Json& note : told->as_array("notes")) notes.push_back(note);
  }
  facts.set("notes", std::move(notes));
  const Json* result = answer.facts.find("result");
  facts.set("result", result != nullptr ? *result : Json::object());
  answer.facts = std::move(facts);
}

const Figure* find_beside(const Answer& answer, std::string_view name) {
  const auto found = std::ranges::find(answer.beside, name, &FigureBeside::name);
  return found == answer.beside.end() ? nullptr : &found->figure;
}

Json whole(const Answer& answer) {
  if (answer.arrays) {
    Json facts = answer.facts;
    Json result = facts.at("result", "an answer");
    for (const NamedTensor& array : answer.arrays()) {
      result.set(array.name, values_json(array.tensor));
    }
    facts.set("result", std::move(result));
    return facts;
  }
  const bool has_maps =
      answer.numbers ||
      std::visit([](const auto& figure) { return requires { data_of(figure); }; }, answer.figure);
  if (!has_maps || answer.numbers_apart || !answer.scores.empty()) return answer.facts;
  Json facts = answer.facts;
  const Json* given = facts.find("result");
  Json result = given != nullptr ? *given : Json::object();
  add_numbers(result, numbers_of(answer));
  facts.set("result", std::move(result));
  return facts;
}

}  // namespace fovea
