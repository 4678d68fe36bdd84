#include "fovea/cli/explain/compare.h"

#include <algorithm>
#include <filesystem>
#include <memory>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/cli/ask_options.h"
#include "fovea/cli/corpus.h"
#include "fovea/cli/count.h"
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

ManyInputs one_input(const Args& args, const Engine& engine) {
  if (args.has("limit")) {
    fail(
        ErrorKind::kInvalidArgument,
        "--limit is of many inputs but INPUT is one; leave it out, or give a folder or a .txt with "
        "one text per line");
  }
  const GivenInput given = given_input(args);
  const auto read = [&args, given, engine] {
    return Sample{.input = input_of(args, given, engine)};
  };
  return {.next = [read, is_read = false]() mutable -> std::optional<NamedInput> {
            if (std::exchange(is_read, true)) return {};
            return NamedInput{"INPUT", read};
          },
          .count = 1,
          .pictures = given.kind == GivenInput::Kind::kPicture};
}

// Each with the settings of an input that are given.
ManyInputs many_inputs(const Args& args, const Engine& engine, Corpus corpus) {
  const auto shared = std::make_shared<const Corpus>(std::move(corpus));
  ManyInputs inputs = inputs_of(*shared, args.has("limit") ? args.integer("limit") : 0);
  const auto read = [&args, engine, shared](int64_t i) {
    const GivenInput given = shared->has_pictures()
                                 ? GivenInput{GivenInput::Kind::kPicture, shared->file(i).string()}
                                 : GivenInput{GivenInput::Kind::kText, shared->text(i)};
    return Sample{.input = input_of(args, given, engine)};
  };
  inputs.next = [read, shared, count = inputs.count,
                 i = int64_t{0}]() mutable -> std::optional<NamedInput> {
    if (i == count) return {};
    const int64_t number = i++;
    return NamedInput{shared->where(number), [read, number] { return read(number); }};
  };
  return inputs;
}

// INPUT itself, or what the folder or list of texts that it names holds.
ManyInputs compared_inputs(const Args& args, const Engine& engine) {
  const bool folder = args.has("INPUT") && is_folder(args["INPUT"]);
  if (!folder && !(args.has("INPUT") && names_text_file(args["INPUT"]))) {
    return one_input(args, engine);
  }
  const bool pictures = folder && means_pictures(args["INPUT"], engine.facts());
  if (!pictures && !engine.facts().takes_text()) {
    fail(ErrorKind::kInvalidArgument,
         "INPUT is '{}', a list of texts, but {} reads no text; give a folder of pictures, or take "
         "a model that reads texts",
         args["INPUT"], engine.name());
  }
  return many_inputs(
      args, engine,
      pictures ? Corpus::of_pictures(args["INPUT"]) : Corpus::of_texts(args["INPUT"]));
}

}  // namespace

Answer compared_methods(const Args& args) {
  if (const GivenInput given = given_input(args, InputKinds::kRuns);
      given.kind == GivenInput::Kind::kRun) {
    check_run_args(given, args);
  }
  Question question = typed_comparison(args);
  const Engine engine = open_compared_engine(args, question);
  read_named_pictures(question, engine);
  const ManyInputs inputs = compared_inputs(args, engine);
  return answer_of(counted(engine, inputs, question, ""), engine, inputs, question);
}

}  // namespace fovea
