#include "fovea/cli/explain/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/progress.h"
#include "fovea/base/version.h"
#include "fovea/cli/corpus.h"
#include "fovea/cli/explain/check.h"
#include "fovea/cli/method_options.h"
#include "fovea/cli/model_options.h"
#include "fovea/figure/faithfulness_view.h"

namespace fovea {
namespace {

constexpr int64_t kResamples = 1000;

// Throws Error{kNotFound} for one that is not there: nobody grades methods on its name.
bool names_text_file(const std::string& path) {
  if (std::filesystem::path(path).extension() != ".txt") return false;
  std::error_code ignored;
  if (std::filesystem::is_regular_file(path, ignored)) return true;
  if (path.find(' ') != path.npos) return false;
  fail(ErrorKind::kNotFound, "{}: no such file; check the path", path);
}

Engine open_model(const Args& args) {
  if (!args.has("model") && args.has("INPUT") && is_folder(args["INPUT"])) {
    return open_engine(args,
                       holds_pictures(args["INPUT"]) ? kDefaultPictureModel : kDefaultTextModel);
  }
  return open_for_question(given_input(args), args);
}

// Whether a folder is one of pictures: told by the model, or where it takes both by the files.
bool means_pictures(const std::string& folder, const ModelFacts& facts) {
  return facts.takes_pixels() && (!facts.takes_text() || holds_pictures(folder));
}

// INPUT itself, or what the folder or list of texts that it names holds.
std::vector<GivenInput> compared_inputs(const Args& args, const Engine& engine) {
  const bool folder = args.has("INPUT") && is_folder(args["INPUT"]);
  if (!folder && !(args.has("INPUT") && names_text_file(args["INPUT"]))) {
    if (args.has("limit")) {
      fail(ErrorKind::kInvalidArgument,
           "--limit is of many inputs but INPUT is one; leave it out, or give a folder or a .txt "
           "with one text per line");
    }
    return {given_input(args)};
  }
  const bool pictures = folder && means_pictures(args["INPUT"], engine.facts());
  if (!pictures && !engine.facts().takes_text()) {
    fail(ErrorKind::kInvalidArgument,
         "INPUT is '{}', a list of texts, but {} reads no text; give a folder of pictures, or take "
         "a model that reads texts",
         args["INPUT"], engine.name());
  }
  const Corpus corpus =
      pictures ? Corpus::of_pictures(args["INPUT"]) : Corpus::of_texts(args["INPUT"]);
  const int64_t count =
      args.has("limit") ? std::min(args.integer("limit"), corpus.size()) : corpus.size();
  std::vector<GivenInput> inputs;
  for (int64_t i = 0; i < count; ++i) {
    inputs.push_back(pictures ? GivenInput{GivenInput::Kind::kPicture, corpus.file(i).string()}
                              : GivenInput{GivenInput::Kind::kText, corpus.text(i)});
  }
  return inputs;
}

// What may be wrong with one input or one method, while others are fine.
bool is_of_one(const Error& error) {
  return error.kind() != ErrorKind::kInternal && error.kind() != ErrorKind::kCancelled;
}

class ComparisonRun {
 public:
  explicit ComparisonRun(const Args& args)
      : args_(args),
        methods_(chosen_methods(args)),
        engine_(open_model(args)),
        inputs_(compared_inputs(args, engine_)),
        checker_(args, inputs_.size() == 1 ? kOrdersOfOne : kOrdersOfEach),
        seed_(args.has("check-seed") ? static_cast<uint64_t>(args.integer("check-seed")) : 0) {
    result_.model = engine_.name();
    result_.model_hash = engine_.model_hash();
    if (args.has("INPUT")) result_.input = args["INPUT"];
    for (const Method& method : methods_) result_.methods.push_back({.name = method.name});
  }

  MethodComparison run() {
    Progress progress("comparing", static_cast<int64_t>(inputs_.size() * methods_.size()));
    for (const GivenInput& input : inputs_) grade_all(input, progress);
    if (result_.inputs == 0) {
      fail(ErrorKind::kUnsupported, "no method can be graded here; the first, {}: {}",
           result_.methods.front().name, result_.methods.front().reason);
    }
    for (ComparedMethod& method : result_.methods) {
      method.mean = mean_card(method.cards, kResamples, seed_);
    }
    set_random_row();
    return std::move(result_);
  }

 private:
  void grade_all(const GivenInput& input, Progress& progress) {
    bool graded = false;
    std::string reason;
    for (size_t m = 0; m < methods_.size(); ++m) {
      ComparedMethod& method = result_.methods[m];
      try {
        FaithfulnessCard card = grade(input, methods_[m]);
        if (!std::exchange(graded, true)) first_cards_.push_back(card);
        method.cards.push_back(std::move(card));
      } catch (const Error& error) {
        if (!is_of_one(error)) throw;
        if (method.reason.empty()) method.reason = told(error, args_);
        if (reason.empty()) reason = told(error, args_);
      }
      progress.advance();
    }
    checker_.end_input();
    result_.inputs += graded;
    if (graded) return;
    if (result_.left_out++ == 0) result_.first_reason = reason;
  }

  FaithfulnessCard grade(const GivenInput& input, const Method& method) {
    const ExplainQuestion question = read_question(input, args_, engine_, method);
    const Explanation explanation = answer(question);
    FaithfulnessCard card = checker_.card(question, explanation);
    if (inputs_.size() == 1) {
      result_.answer = answer_name(*question.watched, question.watched_against);
    }
    result_.options = card.options;
    result_.removal = removal_text(card.options.removal, explanation.axis);
    return card;
  }

  // Every kind of grade from those inputs that have one.
  void set_random_row() {
    const MeanCard first = mean_card(first_cards_, kResamples, seed_);
    for (size_t k = 0; k < kGradeKinds; ++k) result_.random[k] = first[k].random;
    for (const ComparedMethod& method : result_.methods) {
      for (size_t k = 0; k < kGradeKinds; ++k) {
        if (first[k].inputs == 0 && method.mean[k].inputs > 0) {
          result_.random[k] = method.mean[k].random;
        }
      }
    }
  }

  const Args& args_;
  std::vector<Method> methods_;
  Engine engine_;
  std::vector<GivenInput> inputs_;
  Checker checker_;
  uint64_t seed_;
  std::vector<FaithfulnessCard> first_cards_;  // of each input, by the first method that could
  MethodComparison result_;
};

}  // namespace

MethodComparison compare_methods(const Args& args) {
  return ComparisonRun(args).run();
}

namespace {

void set_interval(Json& json, const std::string& prefix, const Interval& interval) {
  json.set(prefix + "low", interval.low);
  json.set(prefix + "high", interval.high);
}

Json grades_json(const ComparedMethod& method) {
  Json grades = Json::object();
  for (size_t k = 0; k < kGradeKinds; ++k) {
    const MeanGrade& grade = method.mean[k];
    Json one = Json::object();
    one.set("value", grade.value.mean);
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

std::string csv_line(const std::string& method, size_t kind, const Interval& value,
                     std::string_view verdict, int64_t inputs) {
  const auto number = [](double each) {
    return std::isfinite(each) ? fmt::format("{:.9g}", each) : "";
  };
  return fmt::format("{},{},{},{},{},{},{}\n", method, grade_infos()[kind].name, number(value.mean),
                     number(value.low), number(value.high), verdict, inputs);
}

}  // namespace

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
    Json one = Json::object();
    one.set("value", comparison.random[k].mean);
    set_interval(one, "", comparison.random[k]);
    random.set(std::string(grade_infos()[k].name), std::move(one));
  }
  json.set("random", std::move(random));
  return json;
}

std::string comparison_csv(const MethodComparison& comparison) {
  std::string text = "method,grade,value,low,high,verdict,inputs\n";
  for (const ComparedMethod& method : comparison.methods) {
    for (size_t k = 0; k < kGradeKinds && !method.cards.empty(); ++k) {
      const MeanGrade& grade = method.mean[k];
      text += csv_line(method.name, k, grade.value, to_string(grade.verdict), grade.inputs);
    }
  }
  for (size_t k = 0; k < kGradeKinds; ++k) {
    text += csv_line("random", k, comparison.random[k], "-", comparison.inputs);
  }
  return text;
}

}  // namespace fovea
