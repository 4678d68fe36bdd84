#include "fovea/cli/explain/card.h"

#include <fmt/format.h>

#include <cmath>

#include "fovea/base/markup.h"
#include "fovea/cli/draw/text.h"
#include "fovea/cli/explain/check.h"
#include "fovea/cli/explain/numbers.h"
#include "fovea/cli/explain/view.h"
#include "fovea/render/figure_file.h"

namespace fovea {
namespace {

constexpr int kGradeNameWidth = 18;

std::string_view good_text(Wish wish) {
  return wish == Wish::kLow ? "low" : wish == Wish::kHigh ? "high" : "near 0";
}

std::string answer_name(const ExplainQuestion& question) {
  std::string name = question.watched->name;
  if (question.watched_against) name += " rather than " + question.watched_against->name;
  return name;
}

// "probability of class cat".
std::string value_name(const ExplainQuestion& question) {
  const bool similar = std::holds_alternative<SimilarityTarget>(question.watched->target);
  return similar ? answer_name(question) + ", cosine"
                 : fmt::format("probability of {}", answer_name(question));
}

std::string_view positions_name(const Axis& axis) {
  if (axis.grid_rows == 0) return "tokens";
  return axis.name == "patches" ? "patches" : "positions";
}

// What the numbers are about: the answer's value with everything and with nothing, and how much was
// taken away.
std::string facts_text(const CheckedExplanation& checked) {
  const FaithfulnessCard& card = checked.card;
  return fmt::format(
      "{}: {:.3f}, without any of the {} {} {:.3f} \u00b7 {}, special tokens kept \u00b7 random: "
      "mean and "
      "95 % of {} random orders \u00b7 {} runs of the model",
      value_name(checked.question), card.clean, card.positions,
      positions_name(checked.explanation.axis), card.empty,
      removal_text(card.options.removal, checked.explanation.axis), card.options.orders, card.runs);
}

std::string verdict_styled(const Terminal& terminal, Verdict verdict, int width) {
  const std::string text = padded_right(to_string(verdict), width);
  const bool good = verdict == Verdict::kBetter || verdict == Verdict::kCollapses;
  return good ? terminal.bold(text) : terminal.dim(text);
}

// Too narrow for all columns: what random numbers get goes below.
bool is_narrow(const Terminal& terminal) {
  return terminal.width < 72;
}

std::string card_heading(const Terminal& terminal) {
  return terminal.bold(padded_right("faithfulness", kGradeNameWidth)) +
         terminal.dim(is_narrow(terminal)
                          ? "   value  verdict\n  good      random   95 % of random"
                          : "   value   random   95 % of random    verdict    good") +
         "\n";
}

// What comes after the name.
std::string line_text(const CardLine& line, Wish wish, const Terminal& terminal) {
  const std::string range = fmt::format("{:.3f} to {:.3f}", line.random.low, line.random.high);
  if (is_narrow(terminal)) {
    return fmt::format("  {:>6.3f}  ", line.value) + verdict_styled(terminal, line.verdict, 0) +
           "\n" +
           terminal.dim(
               fmt::format("  {:<8}  {:>6.3f}   {}", good_text(wish), line.random.mean, range)) +
           "\n";
  }
  return fmt::format("  {:>6.3f}   {:>6.3f}   {:<16}  ", line.value, line.random.mean, range) +
         verdict_styled(terminal, line.verdict, 11) + terminal.dim(good_text(wish)) + "\n";
}

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
  Json json = Json::object();
  json.set("shares", Json::array_of(curve.shares));
  json.set("values", Json::array_of(curve.values));
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

CurvePanel panel_of(const RemovalCurve& curve, const CurveBand& band, const CardLine& line) {
  CurvePanel panel{.shares = curve.shares, .values = curve.values};
  for (const Interval& each : band.values) {
    panel.mean.push_back(each.mean);
    panel.low.push_back(each.low);
    panel.high.push_back(each.high);
  }
  panel.detail =
      fmt::format("area {:.3f}, random {:.3f} ({:.3f} to {:.3f}): {}", line.value, line.random.mean,
                  line.random.low, line.random.high, to_string(line.verdict));
  return panel;
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

std::string card_text(const CheckedExplanation& checked, const Terminal& terminal) {
  std::string text = "\n" + card_heading(terminal);
  std::vector<std::string> missing;
  for (size_t k = 0; k < kGradeKinds; ++k) {
    const GradeInfo& info = grade_infos()[k];
    const CardLine& line = checked.card.lines[k];
    text += padded_right(info.name, kGradeNameWidth);
    if (line.missing.empty()) {
      text += line_text(line, info.wish, terminal);
    } else {
      text += terminal.dim("       \u2013") + "\n";
      missing.push_back(fmt::format("no {}: {}", info.name, printable(line.missing)));
    }
  }
  for (const CascadeStep& step : checked.card.cascade) {
    if (checked.card.cascade.size() == 1) break;
    text += terminal.dim(fmt::format("  random {:<24} {:>6.3f}\n", step.weights, step.rho));
  }
  text += "\n";
  for (const std::string& reason : missing) {
    text += terminal.dim(wrapped(reason, terminal.width)) + "\n";
  }
  text += terminal.dim(wrapped(printable(facts_text(checked)), terminal.width)) + "\n";
  return without_trailing_spaces(text);
}

Json card_json(const ExplainQuestion& question, const FaithfulnessCard& card, bool curves) {
  Json json = Json::object();
  json.set("answer", answer_name(question));
  json.set("clean", card.clean);
  json.set("empty", card.empty);
  json.set("positions", card.positions);
  json.set("removal", to_string(card.options.removal));
  json.set("steps", card.options.steps);
  json.set("orders", card.options.orders);
  json.set("seed", static_cast<int64_t>(card.options.seed));
  json.set("runs", card.runs);
  Json grades = Json::object();
  for (size_t k = 0; k < kGradeKinds; ++k) {
    grades.set(std::string(grade_infos()[k].name),
               card_numbers(card.lines[k], grade_infos()[k].wish));
  }
  json.set("grades", std::move(grades));
  Json cascade = Json::array();
  for (const CascadeStep& step : card.cascade) {
    Json one = Json::object();
    one.set("weights", step.weights);
    one.set("rho", step.rho);
    cascade.push_back(std::move(one));
  }
  json.set("random_weights", std::move(cascade));
  if (!curves) return json;
  json.set("deletion_curve", curve_json(card.deletion, card.random_deletion));
  json.set("insertion_curve", curve_json(card.insertion, card.random_insertion));
  return json;
}

CurvesFigure card_figure(const CheckedExplanation& checked) {
  const FaithfulnessCard& card = checked.card;
  const ExplainQuestion& question = checked.question;
  const std::string model = std::filesystem::path(question.result.run.model).filename().string();
  const std::string_view positions = positions_name(checked.explanation.axis);
  CurvesFigure figure;
  figure.text = {.title = fmt::format("{} \u00b7 faithfulness of {}", model, question.method.name),
                 .caption = facts_text(checked),
                 .metadata = explanation_metadata(question, checked.explanation, &card)};
  CurvePanel deletion = panel_of(card.deletion, card.random_deletion, card.lines[0]);
  deletion.title = "deletion: low is good";
  deletion.way_name = fmt::format("{} taken away, the most important first", positions);
  CurvePanel insertion = panel_of(card.insertion, card.random_insertion, card.lines[1]);
  insertion.title = "insertion: high is good";
  insertion.way_name = fmt::format("{} shown, the most important first", positions);
  figure.panels = {std::move(deletion), std::move(insertion)};
  figure.value_name = value_name(question);
  figure.curve_name = question.method.name;
  figure.mean_name = fmt::format("mean of {} random orders", card.options.orders);
  figure.band_name = "95 % of them";
  return figure;
}

std::string card_html(const CheckedExplanation& checked) {
  std::string rows;
  for (size_t k = 0; k < kGradeKinds; ++k) {
    rows += grade_row_html(grade_infos()[k], checked.card.lines[k]);
  }
  CurvesFigure figure = card_figure(checked);
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
      escape_text(facts_text(checked)), rows, drawing_html(svg, label, "card-"));
}

}  // namespace fovea
