#include "fovea/cli/explain/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "fovea/ask/explanation_fields.h"
#include "fovea/ask/method_comparison.h"
#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/cli/ask_options.h"
#include "fovea/cli/corpus.h"
#include "fovea/cli/explain/asked.h"
#include "fovea/cli/model_options.h"

namespace fovea {
namespace {

// Throws Error{kNotFound} for one that is not there: nobody grades methods on its name.
bool names_text_file(const std::string& path) {
  if (std::filesystem::path(path).extension() != ".txt") return false;
  std::error_code ignored;
  if (std::filesystem::is_regular_file(path, ignored)) return true;
  if (path.find(' ') != path.npos) return false;
  fail(ErrorKind::kNotFound, "{}: no such file; check the path", path);
}

Engine open_compared_engine(const Args& args, const Question& question) {
  if (!args.has("model") && args.has("INPUT") && is_folder(args["INPUT"])) {
    return open_engine(args,
                       holds_pictures(args["INPUT"]) ? kDefaultPictureModel : kDefaultTextModel);
  }
  return open_explained_engine(args, given_input(args), question);
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

std::string csv_line(const std::string& method, size_t kind, const Interval& value,
                     std::string_view verdict, int64_t inputs) {
  const auto number = [](double each) {
    return std::isfinite(each) ? fmt::format("{:.9g}", each) : "";
  };
  return fmt::format("{},{},{},{},{},{},{}\n", method, grade_infos()[kind].name, number(value.mean),
                     number(value.low), number(value.high), verdict, inputs);
}

}  // namespace

MethodComparison run_comparison(const Args& args) {
  if (const GivenInput given = given_input(args, InputKinds::kRuns);
      given.kind == GivenInput::Kind::kRun) {
    check_run_args(given, args);
  }
  Question question = typed_explanation(args);
  const std::vector<Method> methods = chosen_methods(args);
  check_known_parameters(question, methods);
  const Engine engine = open_compared_engine(args, question);
  read_named_pictures(question, engine);
  const std::vector<GivenInput> inputs = compared_inputs(args, engine);
  const auto open = [&](int64_t input) {
    return open_session(args, inputs[static_cast<size_t>(input)], engine, {}, {.values = false});
  };
  MethodComparison comparison =
      compare_methods({static_cast<int64_t>(inputs.size()), open}, methods, question,
                      [&](const Error& error) { return told(error, args); });
  comparison.model = engine.name();
  comparison.model_hash = engine.model_hash();
  if (args.has("INPUT")) comparison.input = args["INPUT"];
  return comparison;
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
