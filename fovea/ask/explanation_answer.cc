#include "fovea/ask/explanation_answer.h"

#include <filesystem>

#include "fovea/base/version.h"
#include "fovea/figure/explanation_view.h"
#include "fovea/figure/faithfulness_view.h"

namespace fovea {
namespace {

constexpr std::string_view kOfAnswer = "an explanation";

// Every parameter as it was, given or not.
Json parameters_json(const AskedExplanation& asked) {
  Json json = Json::object();
  for (const MethodParameter& parameter : asked.method.parameters) {
    const auto given = asked.parameters.find(parameter.name);
    json.set(parameter.name, given == asked.parameters.end() ? parameter.otherwise : given->second);
  }
  return json;
}

Json grade_json(const CardLine& line, Wish wish) {
  Json json = Json::object({{"value", line.value}});
  if (!line.missing.empty()) json.set("missing", line.missing);
  json.set("random", line.random.mean);
  json.set("random_low", line.random.low);
  json.set("random_high", line.random.high);
  json.set("good", good_text(wish));
  json.set("verdict", to_string(line.verdict));
  return json;
}

Json curve_json(const RemovalCurve& curve, const CurveBand& band) {
  std::vector<double> mean, low, high;
  for (const Interval& each : band.values) {
    mean.push_back(each.mean);
    low.push_back(each.low);
    high.push_back(each.high);
  }
  return Json::object({{"shares", Json::array_of(curve.shares)},
                       {"values", Json::array_of(curve.values)},
                       {"random", Json::array_of(mean)},
                       {"random_low", Json::array_of(low)},
                       {"random_high", Json::array_of(high)}});
}

// Every grade with what random numbers get; `curves`: the points of all curves too.
Json card_json(const AskedExplanation& asked, const FaithfulnessCard& card, bool curves) {
  Json json = Json::object({{"answer", answer_name(*asked.watched, asked.watched_against)},
                            {"clean", card.clean},
                            {"empty", card.empty},
                            {"positions", card.positions},
                            {"removal", to_string(card.options.removal)},
                            {"steps", card.options.steps},
                            {"orders", card.options.orders},
                            {"seed", static_cast<int64_t>(card.options.seed)},
                            {"runs", card.runs}});
  Json grades = Json::object();
  for (size_t k = 0; k < kGradeKinds; ++k) {
    grades.set(std::string(grade_infos()[k].name),
               grade_json(card.lines[k], grade_infos()[k].wish));
  }
  json.set("grades", std::move(grades));
  Json cascade = Json::array();
  for (const CascadeStep& step : card.cascade) {
    cascade.push_back(Json::object({{"weights", step.weights}, {"rho", step.rho}}));
  }
  json.set("random_weights", std::move(cascade));
  if (!curves) return json;
  json.set("deletion_curve", curve_json(card.deletion, card.random_deletion));
  json.set("insertion_curve", curve_json(card.insertion, card.random_insertion));
  return json;
}

// Sets what was asked, from which position, and what the numbers are.
void set_asked(Json& json, const AskedExplanation& asked, const Explanation& explanation) {
  if (!asked.position_name.empty()) {
    json.set("position", asked.position);
    json.set("position_name", asked.position_name);
  }
  if (asked.target) json.set("target", asked.target->name);
  if (asked.against) json.set("against", asked.against->name);
  json.set("measures", explanation.measures);
  json.set("signed", explanation.is_signed);
}

// The metadata of a figure: what was asked and, if it was checked, the grades.
Json explanation_metadata(const AskedExplanation& asked, const Explanation& explanation,
                          const FaithfulnessCard* card) {
  const Run& run = asked.result().run;
  Json json = Json::object({{"version", version()},
                            {"model", run.model},
                            {"model_hash", run.model_hash},
                            {"method", asked.method.name},
                            {"parameters", parameters_json(asked)},
                            {"attention", to_string(asked.kind)}});
  if (explanation.layer) json.set("layer", *explanation.layer);
  if (asked.head) json.set("head", *asked.head);
  set_asked(json, asked, explanation);
  if (card != nullptr) json.set("check", card_json(asked, *card, /*curves=*/false));
  return json;
}

Json explanation_result(const AskedExplanation& asked, const Explanation& explanation,
                        const FaithfulnessCard* card) {
  const Axis& axis = explanation.axis;
  Json json = Json::object({{"parameters", parameters_json(asked)}});
  set_asked(json, asked, explanation);
  if (explanation.row) json.set("row", *explanation.row);
  json.set("axis", axis.name);
  if (axis.grid_rows > 0) json.set("grid", Json(Json::Array{axis.grid_rows, axis.grid_cols}));
  json.set("positions", position_texts(axis));
  json.set("scores", Json::array_of(explanation.scores));
  if (!explanation.target_scores.empty()) {
    json.set("target_positions", position_texts(explanation.target_axis));
    json.set("target_scores", Json::array_of(explanation.target_scores));
  }
  if (card != nullptr) json.set("check", card_json(asked, *card, /*curves=*/true));
  return json;
}

Json explanation_facts(const AskedExplanation& asked, const Explanation& explanation) {
  Json facts = Json::object({{"site", to_string(asked.kind)}, {"method", asked.method.name}});
  if (explanation.layer) facts.set("layer", *explanation.layer);
  if (asked.method.takes_head) facts.set("head", asked.head ? Json(*asked.head) : Json("mean"));
  if (asked.method.needs.position) facts.set("direction", "row");
  Json notes = Json::array_of(asked.notes);
  for (const std::string& note : explanation.notes) notes.push_back(note);
  facts.set("notes", std::move(notes));
  return facts;
}

Figure figure_of(const AskedExplanation& asked, const Explanation& explanation) {
  ExplanationView view{.run = asked.result().run,
                       .method = asked.method,
                       .explanation = explanation,
                       .kind = asked.kind,
                       .position = asked.position,
                       .position_name = asked.position_name,
                       .head = asked.head,
                       .notes = asked.notes};
  if (asked.target) view.answer = answer_name(*asked.target, asked.against);
  if (asked.picture) {
    view.picture = asked.picture->picture.get();
    view.grid = &asked.picture->grid;
  }
  if (finds_objects(asked)) view.grid_name = "cells";
  return explanation_figure(view);
}

// The grades as a table, and the curves that they are made from.
void add_check(Answer& answer, const AskedExplanation& asked, const Explanation& explanation,
               const FaithfulnessCard& card) {
  const CardView view{
      .card = card,
      .axis = explanation.axis,
      .model = std::filesystem::path(asked.result().run.model).filename().string(),
      .method = asked.method.name,
      .answer = answer_name(*asked.watched, asked.watched_against),
      .similarity = std::holds_alternative<SimilarityTarget>(asked.watched->target)};
  CurvesFigure curves = card_figure(view);
  curves.text.metadata = text_in(answer.figure).metadata;
  answer.beside = {{"grades", card_table(view)}, {"curves", std::move(curves)}};
}

PageGrade page_grade(const GradeInfo& info, const Json& grade) {
  const auto number = [&](std::string_view name) {
    return grade.at(name, kOfAnswer).as_double(kOfAnswer);
  };
  const auto text = [&](std::string_view name) {
    return grade.at(name, kOfAnswer).as_string(kOfAnswer);
  };
  PageGrade page{.name = std::string(info.name),
                 .says = std::string(info.says),
                 .good = text("good"),
                 .missing = grade.find("missing") != nullptr ? text("missing") : "",
                 .verdict = text("verdict")};
  if (!page.missing.empty()) return page;
  page.value = number("value");
  page.random = number("random");
  page.random_low = number("random_low");
  page.random_high = number("random_high");
  return page;
}

}  // namespace

Answer explanation_answer(const AskedExplanation& asked, const Explanation& explanation,
                          const FaithfulnessCard* card) {
  Answer answer{.figure = figure_of(asked, explanation),
                .facts = explanation_facts(asked, explanation),
                .scores = {{explanation.axis, explanation.scores}}};
  std::visit(
      [&](auto& figure) { figure.text.metadata = explanation_metadata(asked, explanation, card); },
      answer.figure);
  answer.facts.set("result", explanation_result(asked, explanation, card));
  if (!explanation.target_scores.empty()) {
    answer.scores.push_back({explanation.target_axis, explanation.target_scores});
  }
  if (card != nullptr) add_check(answer, asked, explanation, *card);
  return answer;
}

ExplanationPage explanation_page(const Answer& answer) {
  const Json& result = answer.facts.at("result", kOfAnswer);
  const Method method = method_named(answer.facts.at("method", kOfAnswer).as_string(kOfAnswer));
  ExplanationPage page{
      .figure = answer.figure,
      .method = method.name,
      .answers = method.answers,
      .model_hash = answer.facts.at("model", kOfAnswer).at("hash", kOfAnswer).as_string(kOfAnswer),
      .scores = answer.scores,
      .row = {},
      .facts = whole(answer).dump()};
  if (const Json* row = result.find("row")) page.row = row->as_int(kOfAnswer);
  const Figure* curves = find_beside(answer, "curves");
  if (curves == nullptr) return page;
  page.curves = std::get<CurvesFigure>(*curves);
  const Json& grades = result.at("check", kOfAnswer).at("grades", kOfAnswer);
  for (const GradeInfo& info : grade_infos()) {
    page.grades.push_back(page_grade(info, grades.at(info.name, kOfAnswer)));
  }
  return page;
}

}  // namespace fovea
