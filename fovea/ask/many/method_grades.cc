#include "fovea/ask/many/method_grades.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>

#include "fovea/ask/explanation_check.h"
#include "fovea/ask/explanation_fields.h"
#include "fovea/ask/session.h"
#include "fovea/base/progress.h"
#include "fovea/base/version.h"
#include "fovea/figure/faithfulness_view.h"

namespace fovea {
namespace {

constexpr int64_t kResamples = 1000;
constexpr std::string_view kOfGrades = "a row of grades";

Json interval_json(const Interval& interval) {
  return Json(Json::Array{interval.mean, interval.low, interval.high});
}

// What JSON cannot hold is null.
double number_of(const Json& json) {
  return json.is_null() ? std::numeric_limits<double>::quiet_NaN() : json.as_double(kOfGrades);
}

Json lines_json(const FaithfulnessCard& card) {
  Json lines = Json::array();
  for (const CardLine& line : card.lines) {
    Json json = Json::object({{"value", line.value}, {"random", interval_json(line.random)}});
    if (!line.missing.empty()) json.set("missing", line.missing);
    lines.push_back(std::move(json));
  }
  return lines;
}

// A card with these lines alone.
FaithfulnessCard card_of(const Json& lines) {
  FaithfulnessCard card;
  for (size_t k = 0; k < kGradeKinds; ++k) {
    const Json& json = lines.as_array(kOfGrades).at(k);
    const Json::Array& random = json.at("random", kOfGrades).as_array(kOfGrades);
    CardLine& line = card.lines[k];
    line.value = number_of(json.at("value", kOfGrades));
    line.random = {number_of(random.at(0)), number_of(random.at(1)), number_of(random.at(2))};
    line.verdict = verdict_of(static_cast<GradeKind>(k), line.value, line.random);
    if (const Json* missing = json.find("missing")) line.missing = missing->as_string(kOfGrades);
  }
  return card;
}

std::string told(const Error& error) {
  return error.field().empty() ? error.what() : error.field() + ": " + error.what();
}

class GradeCounter : public Counter {
 public:
  explicit GradeCounter(const ManyAsked& asked) : engine_(asked.engine), question_(asked.question) {
    const std::vector<Method> methods = methods_compared(question_);
    check_known_parameters(question_, methods);
    for (const Method& method : methods) questions_.push_back(asked_of_method(question_, method));
  }

  void count(InputQueue& inputs, ManyState& state) override {
    if (!checker_) {
      checker_.emplace(question_, inputs.count() == 1 ? kOrdersOfOne : kOrdersOfEach);
    }
    count_one(inputs, state, [&](const InputQueue::Item& item, const Sample& sample) {
      return [row = ManyState::Row{item.number, item.name, {}, graded(sample.input)}](
                 ManyState& to) { to.rows.push_back(row); };
    });
  }

 private:
  // The session is opened once and shared by all methods, and so are its runs.
  Json graded(const Input& input) {
    Progress progress("comparing", std::ssize(questions_));
    Json row = Json::object(), methods = Json::array();
    std::optional<Session> session;
    std::string reason;
    for (const Question& question : questions_) {
      try {
        if (!session) session = Session::open(engine_, input, {.values = false});
        methods.push_back(Json::object({{"grades", grade(*session, question, row)}}));
      } catch (const Error& error) {
        if (!is_of_input(error)) throw;
        methods.push_back(Json::object({{"reason", told(error)}}));
        if (reason.empty()) reason = told(error);
      }
      progress.advance();
    }
    checker_->end_input();
    if (row.as_object(kOfGrades).empty()) {
      fail(ErrorKind::kUnsupported, "no method can be graded here; the first, {}: {}",
           questions_.front().word("method").value(), reason);
    }
    row.set("methods", std::move(methods));
    return row;
  }

  // Also sets what all methods share.
  Json grade(const Session& session, const Question& question, Json& row) {
    const auto run = session.run(question);
    const AskedExplanation asked = asked_explanation(question, *run);
    const Explanation explanation = explained(asked);
    const FaithfulnessCard card = checker_->card(asked, explanation);
    row.set("answer", answer_name(*asked.watched, asked.watched_against));
    row.set("removal", to_string(card.options.removal));
    row.set("removed", removal_text(card.options.removal, explanation.axis));
    row.set("steps", card.options.steps);
    row.set("orders", card.options.orders);
    row.set("seed", static_cast<int64_t>(card.options.seed));
    return lines_json(card);
  }

  Engine engine_;
  Question question_;
  std::vector<Question> questions_;  // one to each method
  std::optional<ExplanationChecker> checker_;
};

// The cards of one input go to their methods. Returns the first, which says what random numbers
// get.
FaithfulnessCard add_row(const Json& row, std::vector<ComparedMethod>& methods) {
  std::optional<FaithfulnessCard> first;
  const Json::Array& all = row.at("methods", kOfGrades).as_array(kOfGrades);
  for (size_t m = 0; m < methods.size(); ++m) {
    if (const Json* reason = all.at(m).find("reason")) {
      if (methods[m].reason.empty()) methods[m].reason = reason->as_string(kOfGrades);
      continue;
    }
    methods[m].cards.push_back(card_of(all.at(m).at("grades", kOfGrades)));
    if (!first) first = methods[m].cards.back();
  }
  return first.value_or(FaithfulnessCard{});
}

// Every kind of grade from those inputs that have one.
void set_random_row(MethodComparison& comparison, const MeanCard& first) {
  for (size_t k = 0; k < kGradeKinds; ++k) comparison.random[k] = first[k].random;
  for (const ComparedMethod& method : comparison.methods) {
    for (size_t k = 0; k < kGradeKinds; ++k) {
      if (first[k].inputs == 0 && method.mean[k].inputs > 0) {
        comparison.random[k] = method.mean[k].random;
      }
    }
  }
}

void set_interval(Json& json, const std::string& prefix, const Interval& interval) {
  json.set(prefix + "low", interval.low);
  json.set(prefix + "high", interval.high);
}

Json grades_json(const ComparedMethod& method) {
  Json grades = Json::object();
  for (size_t k = 0; k < kGradeKinds; ++k) {
    const MeanGrade& grade = method.mean[k];
    Json one = Json::object({{"value", grade.value.mean}});
    set_interval(one, "", grade.value);
    one.set("random", grade.random.mean);
    set_interval(one, "random_", grade.random);
    one.set("inputs", grade.inputs);
    one.set("verdict", to_string(grade.verdict));
    if (!grade.missing.empty()) one.set("missing", grade.missing);
    grades.set(std::string(grade_infos()[k].name), std::move(one));
  }
  return grades;
}

Json comparison_result(const MethodComparison& comparison) {
  Json json = Json::object();
  if (!comparison.answer.empty()) json.set("answer", comparison.answer);
  json.set("removal", to_string(comparison.options.removal));
  json.set("steps", comparison.options.steps);
  json.set("orders", comparison.options.orders);
  json.set("seed", static_cast<int64_t>(comparison.options.seed));
  Json methods = Json::array();
  for (const ComparedMethod& method : comparison.methods) {
    Json one = Json::object({{"name", method.name}, {"inputs", method.cards.size()}});
    if (!method.reason.empty()) one.set("reason", method.reason);
    if (!method.cards.empty()) one.set("grades", grades_json(method));
    methods.push_back(std::move(one));
  }
  json.set("methods", std::move(methods));
  Json random = Json::object();
  for (size_t k = 0; k < kGradeKinds; ++k) {
    Json one = Json::object({{"value", comparison.random[k].mean}});
    set_interval(one, "", comparison.random[k]);
    random.set(std::string(grade_infos()[k].name), std::move(one));
  }
  json.set("random", std::move(random));
  return json;
}

// A row for each method and grade; "random" is a method too.
Records grade_records(const MethodComparison& comparison) {
  Records records{.columns = {"method", "grade", "value", "low", "high", "verdict", "inputs"},
                  .rows = {},
                  .digits = 9};
  const auto add = [&](const std::string& method, size_t kind, const Interval& value,
                       std::string_view verdict, int64_t inputs) {
    const auto known = [](double number) { return std::isfinite(number) ? Json(number) : Json(); };
    records.rows.push_back({method, std::string(grade_infos()[kind].name), known(value.mean),
                            known(value.low), known(value.high), std::string(verdict), inputs});
  };
  for (const ComparedMethod& method : comparison.methods) {
    for (size_t k = 0; k < kGradeKinds && !method.cards.empty(); ++k) {
      const MeanGrade& grade = method.mean[k];
      add(method.name, k, grade.value, to_string(grade.verdict), grade.inputs);
    }
  }
  for (size_t k = 0; k < kGradeKinds; ++k) {
    add("random", k, comparison.random[k], "-", comparison.inputs);
  }
  return records;
}

}  // namespace

std::unique_ptr<Counter> grade_counter(const ManyAsked& asked) {
  return std::make_unique<GradeCounter>(asked);
}

MethodComparison comparison_of(const ManyAsked& asked, const ManyState& state) {
  MethodComparison comparison{.model = asked.engine.name(), .inputs = std::ssize(state.rows)};
  for (const Method& method : methods_compared(asked.question)) {
    comparison.methods.push_back({.name = method.name});
  }
  std::vector<FaithfulnessCard> first_cards;
  for (const ManyState::Row& row : state.rows) {
    first_cards.push_back(add_row(row.more, comparison.methods));
  }
  const Json& row = state.rows.back().more;
  const auto number = [&](const char* name) { return row.at(name, kOfGrades).as_int(kOfGrades); };
  const auto text = [&](const char* name) { return row.at(name, kOfGrades).as_string(kOfGrades); };
  if (comparison.inputs == 1) comparison.answer = text("answer");
  comparison.removal = text("removed");
  const bool blank = text("removal") == to_string(Removal::kBlank);
  comparison.options = {.removal = blank ? Removal::kBlank : Removal::kHide,
                        .steps = number("steps"),
                        .orders = number("orders"),
                        .seed = static_cast<uint64_t>(number("seed"))};
  const uint64_t seed = comparison.options.seed;
  for (ComparedMethod& method : comparison.methods) {
    method.mean = mean_card(method.cards, kResamples, seed);
  }
  set_random_row(comparison, mean_card(first_cards, kResamples, seed));
  return comparison;
}

Answer grades_answer(const ManyAsked& asked, const ManyState& state) {
  const MethodComparison comparison = comparison_of(asked, state);
  Json result = comparison_result(comparison);
  TableFigure table = comparison_table(comparison);
  table.text.metadata = Json::object({{"version", version()},
                                      {"model", asked.engine.name()},
                                      {"model_hash", asked.engine.model_hash()},
                                      {"inputs", comparison.inputs}});
  for (const auto& [name, value] : result.as_object(kOfGrades)) {
    table.text.metadata.set(name, value);
  }
  Answer answer{.figure = std::move(table)};
  answer.records = grade_records(comparison);
  answer.facts = Json::object({{"result", std::move(result)}});
  return answer;
}

}  // namespace fovea
