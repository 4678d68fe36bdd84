#include "fovea/cli/explain/card.h"

#include <fmt/format.h>

#include "fovea/base/markup.h"
#include "fovea/cli/explain/view.h"
#include "fovea/render/figure_file.h"

namespace fovea {
namespace {

Json card_numbers(const CardLine& line, Wish wish) {
  Json json = Json::object();
  json.set("value", line.value);
  if (!line.missing.empty()) json.set("missing", line.missing);
  json.set("random", line.random.mean);
  json.set("random_low", line.random.low);
  json.set("random_high", line.random.high);
  json.set("good", good_text(wish));
  json.set("verdict", to_string(line.verdict));
  return json;
}

Json curve_json(const RemovalCurve& curve, const CurveBand& band) {
  Json json = Json::object(
      {{"shares", Json::array_of(curve.shares)}, {"values", Json::array_of(curve.values)}});
  std::vector<double> mean, low, high;
  for (const Interval& each : band.values) {
    mean.push_back(each.mean);
    low.push_back(each.low);
    high.push_back(each.high);
  }
  json.set("random", Json::array_of(mean));
  json.set("random_low", Json::array_of(low));
  json.set("random_high", Json::array_of(high));
  return json;
}

std::string grade_row_html(const GradeInfo& info, const CardLine& line) {
  const std::string name =
      fmt::format("<td>{}<small>{}; {}&nbsp;is&nbsp;good</small></td>", escape_text(info.name),
                  escape_text(info.says), good_text(info.wish));
  if (!line.missing.empty()) {
    return fmt::format("<tr>{}<td colspan=\"3\">none: {}</td></tr>\n", name,
                       escape_text(line.missing));
  }
  return fmt::format(
      "<tr>{}<td class=\"score\">{:.3f}</td><td class=\"score\">{:.3f} "
      "<span class=\"range\">{:.3f} to {:.3f}</span></td><td>{}</td></tr>\n",
      name, line.value, line.random.mean, line.random.low, line.random.high,
      to_string(line.verdict));
}

}  // namespace

CardView card_view(const CheckedExplanation& checked) {
  const ExplainQuestion& question = checked.question;
  return {.card = checked.card,
          .axis = checked.explanation.axis,
          .model = std::filesystem::path(question.result.run.model).filename().string(),
          .method = question.method.name,
          .answer = answer_name(*question.watched, question.watched_against),
          .similarity = std::holds_alternative<SimilarityTarget>(question.watched->target)};
}

Json card_json(const ExplainQuestion& question, const FaithfulnessCard& card, bool curves) {
  Json json = Json::object({{"answer", answer_name(*question.watched, question.watched_against)},
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
               card_numbers(card.lines[k], grade_infos()[k].wish));
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

std::string card_html(const CheckedExplanation& checked) {
  std::string rows;
  for (size_t k = 0; k < kGradeKinds; ++k) {
    rows += grade_row_html(grade_infos()[k], checked.card.lines[k]);
  }
  const CardView view = card_view(checked);
  CurvesFigure figure = card_figure(view);
  const std::string label = figure.text.title + ": curves of deletion and insertion";
  figure.text.title.clear();  // the page says both
  figure.text.caption.clear();
  const std::string svg = encode_figure(FigureFormat::kSvg, figure).bytes;
  return fmt::format(
      "<h2>How far it can be believed</h2>\n<p>{}</p>\n"
      "<div class=\"table card\" tabindex=\"0\" role=\"region\" aria-label=\"faithfulness\">\n"
      "<table>\n<thead><tr><th>grade</th><th class=\"score\">value</th>"
      "<th class=\"score\">random <span class=\"range\">95 %</span></th><th>verdict</th></tr>"
      "</thead>\n<tbody>\n{}</tbody>\n</table>\n</div>\n"
      "<figure>{}</figure>\n",
      escape_text(card_facts(view)), rows, drawing_html(svg, label, "card-"));
}

}  // namespace fovea
