#include "fovea/ask/method_comparison.h"

#include <utility>

#include "fovea/ask/explanation_check.h"
#include "fovea/ask/explanation_fields.h"
#include "fovea/base/progress.h"
#include "fovea/base/version.h"
#include "fovea/figure/faithfulness_view.h"

namespace fovea {
namespace {

constexpr int64_t kResamples = 1000;

// Whether an error concerns one input or one method only, so that others can still be fine.
bool is_of_one(const Error& error) {
  return error.kind() != ErrorKind::kInternal && error.kind() != ErrorKind::kCancelled;
}

class ComparisonRun {
 public:
  ComparisonRun(const ComparedInputs& inputs, std::span<const Method> methods,
                const Question& question, const std::function<std::string(const Error&)>& told)
      : inputs_(inputs),
        methods_(methods),
        told_(told),
        checker_(question, inputs.count == 1 ? kOrdersOfOne : kOrdersOfEach) {
    for (const Method& method : methods) {
      questions_.push_back(asked_of_method(question, method));
      result_.methods.push_back({.name = method.name});
    }
  }

  MethodComparison run() {
    Progress progress("comparing", inputs_.count * static_cast<int64_t>(methods_.size()));
    for (int64_t i = 0; i < inputs_.count; ++i) grade_all(i, progress);
    if (result_.inputs == 0) {
      fail(ErrorKind::kUnsupported, "no method can be graded here; the first, {}: {}",
           result_.methods.front().name, result_.methods.front().reason);
    }
    for (ComparedMethod& method : result_.methods) {
      method.mean = mean_card(method.cards, kResamples, checker_.seed());
    }
    set_random_row();
    return std::move(result_);
  }

 private:
  // The session of an input is opened once and shared by all methods, and so are its runs.
  void grade_all(int64_t input, Progress& progress) {
    bool graded = false;
    std::string reason;
    std::optional<Session> session;
    for (size_t m = 0; m < methods_.size(); ++m) {
      ComparedMethod& method = result_.methods[m];
      try {
        if (!session) session = inputs_.open(input);
        FaithfulnessCard card = grade(*session, questions_[m]);
        if (!std::exchange(graded, true)) first_cards_.push_back(card);
        method.cards.push_back(std::move(card));
      } catch (const Error& error) {
        if (!is_of_one(error)) throw;
        if (method.reason.empty()) method.reason = told_(error);
        if (reason.empty()) reason = told_(error);
      }
      progress.advance();
    }
    checker_.end_input();
    result_.inputs += graded;
    if (!graded && result_.left_out++ == 0) result_.first_reason = reason;
  }

  FaithfulnessCard grade(const Session& session, const Question& question) {
    const auto run = session.run(question);
    const AskedExplanation asked = asked_explanation(question, *run);
    const Explanation explanation = explained(asked);
    FaithfulnessCard card = checker_.card(asked, explanation);
    if (inputs_.count == 1) result_.answer = answer_name(*asked.watched, asked.watched_against);
    result_.options = card.options;
    result_.removal = removal_text(card.options.removal, explanation.axis);
    return card;
  }

  // Every kind of grade from those inputs that have one.
  void set_random_row() {
    const MeanCard first = mean_card(first_cards_, kResamples, checker_.seed());
    for (size_t k = 0; k < kGradeKinds; ++k) result_.random[k] = first[k].random;
    for (const ComparedMethod& method : result_.methods) {
      for (size_t k = 0; k < kGradeKinds; ++k) {
        if (first[k].inputs == 0 && method.mean[k].inputs > 0) {
          result_.random[k] = method.mean[k].random;
        }
      }
    }
  }

  const ComparedInputs& inputs_;
  std::span<const Method> methods_;
  const std::function<std::string(const Error&)>& told_;
  std::vector<Question> questions_;  // one to each method
  ExplanationChecker checker_;
  std::vector<FaithfulnessCard> first_cards_;  // of each input, by the first method that could
  MethodComparison result_;
};

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

}  // namespace

MethodComparison compare_methods(const ComparedInputs& inputs, std::span<const Method> methods,
                                 const Question& question,
                                 const std::function<std::string(const Error&)>& told) {
  check_known_parameters(question, methods);
  return ComparisonRun(inputs, methods, question, told).run();
}

Json comparison_json(const MethodComparison& comparison) {
  Json json = Json::object({{"version", version()},
                            {"model", comparison.model},
                            {"model_hash", comparison.model_hash},
                            {"input", comparison.input}});
  if (!comparison.answer.empty()) json.set("answer", comparison.answer);
  json.set("inputs", comparison.inputs);
  json.set("left_out", comparison.left_out);
  if (comparison.left_out > 0) json.set("first_reason", comparison.first_reason);
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

}  // namespace fovea
