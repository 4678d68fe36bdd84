#include "fovea/cli/explain/asked.h"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/ask/explanation_fields.h"
#include "fovea/ask/question_kind.h"
#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/parse.h"
#include "fovea/cli/ask_options.h"
#include "fovea/cli/method_options.h"
#include "fovea/cli/model_options.h"
#include "fovea/cli/run_input.h"
#include "fovea/render/figure_file.h"

namespace fovea {
namespace {

// The question's fields without the method, because --compare takes several.
std::vector<FieldInfo> fields_beside_method(std::string_view kind) {
  std::vector<FieldInfo> fields = question_kind_named(kind).fields;
  std::erase_if(fields, [](const FieldInfo& field) {
    return field.name == "method" || field.name == "methods";
  });
  return fields;
}

// Those that --method lists.
std::vector<std::string> listed_methods(const Args& args) {
  std::vector<std::string> names;
  std::string_view rest = args["method"];
  for (bool more = true; more;) {
    const size_t comma = rest.find(',');
    names.push_back(method_named("--method", trimmed(rest.substr(0, comma))).name);
    more = comma != rest.npos;
    if (more) rest.remove_prefix(comma + 1);
  }
  return names;
}

bool asks_two_stacks(const GivenInput& given, const Args& args, const Question& question) {
  const bool picture = given.kind == GivenInput::Kind::kPicture;
  return is_of_two_stacks(question.place.site) || question.word("method") == "alti+" ||
         (picture ? question.place.query.has_value() : args.has("target"));
}

}  // namespace

std::vector<Option> explanation_options() {
  const FieldInfo method = *find_field(question_kind_named("explain").fields, "method");
  const Option one = option_of(method);
  return joined(
      {Option::text("method", method.shown,
                    fmt::format("{}; with --compare several with commas between them", one.help))
           .suggesting(method_names())},
      options_of(fields_beside_method("explain")));
}

std::vector<Option> check_options() {
  return {
      Option::flag(
          "compare",
          "instead of a map, grade all methods, or those that --method lists, side by "
          "side; INPUT may be a folder of pictures or of .txt files, or a .txt with one text per "
          "line"),
      Option::integer("limit", "N", "only the first N inputs, with --compare", 1),
      Option::text("check-out", "FILE",
                   "draw the curves of deletion and insertion: .png .svg .pdf")};
}

void check_check_args(const Args& args) {
  const bool check = args.flag("check"), compare = args.flag("compare");
  if (check && compare) {
    fail(ErrorKind::kInvalidArgument, "--compare checks every method already; leave out --check");
  }
  if (compare && args.flag("check-cascade")) {
    fail(ErrorKind::kInvalidArgument,
         "--check-cascade shows one method layer by layer but --compare gives one number of each; "
         "leave it out, or give --check with one method");
  }
  if (args.has("colors") && compare) {
    fail(ErrorKind::kInvalidArgument,
         "--colors is {} but --compare makes a table, which has no colours; leave it out",
         args["colors"]);
  }
  if (args.has("limit") && !compare) {
    fail(ErrorKind::kInvalidArgument,
         "--limit is of many inputs but one is explained; give --compare too");
  }
  if (!args.has("check-out")) return;
  if (!check) {
    fail(ErrorKind::kInvalidArgument, "--check-out draws what is checked; give --check too");
  }
  figure_format(args["check-out"]);
}

void check_run_args(const GivenInput& given, const Args& args) {
  if (args.flag("compare")) {
    fail(ErrorKind::kInvalidArgument,
         "--compare runs the model again but '{}' is a captured run, which holds maps alone; give "
         "the text or picture itself",
         given.value);
  }
  refuse_model_options(args, given, {"model", "size", "pair", "target", "from", "to", "dtype"});
}

Question typed_explanation(const Args& args) {
  Json json = Json::object({{"kind", "explain"}});
  if (args.has("method")) {
    const std::vector<std::string> methods = listed_methods(args);
    if (methods.size() > 1) {
      fail(ErrorKind::kInvalidArgument,
           "--method names {} methods but one is asked; give --compare to see them side by side",
           methods.size());
    }
    json.set("method", methods.front());
  }
  set_given(json, args, fields_beside_method("explain"));
  return parse_question(json);
}

Question typed_comparison(const Args& args) {
  Json json = Json::object({{"kind", "compare"}});
  if (args.has("method")) json.set("methods", Json::array_of(listed_methods(args)));
  set_given(json, args, fields_beside_method("compare"));
  return parse_question(json);
}

Engine open_explained_engine(const Args& args, const GivenInput& given, const Question& question) {
  return open_engine(args, default_model_for(given, asks_two_stacks(given, args, question)));
}

Session open_explained(const Args& args, const GivenInput& given, const Question& question) {
  if (given.kind == GivenInput::Kind::kRun) {
    check_run_args(given, args);
    return open_run_file(given.value, args);
  }
  return open_session(args, given, open_explained_engine(args, given, question), question,
                      {.values = false});
}

void read_named_pictures(Question& question, const Engine& engine) {
  const ModelFacts& facts = engine.facts();
  if (!embeds(facts)) return;
  for (const char* field : {"class", "against"}) {
    const auto name = question.word(field);
    if (!name) continue;
    const bool takes_file = facts.takes_pixels() && (names_picture(*name) || !facts.takes_text());
    if (takes_file && file_exists(*name)) {
      question.pictures.insert_or_assign(*name, read_picture_bytes(*name));
    } else if (facts.takes_text()) {
      check_is_text(fmt::format("--{}", field), *name);
    } else {
      fail(ErrorKind::kInvalidArgument,
           "'{}' is to be compared with but is no file, and {} sees pictures only; give a picture "
           "file",
           *name, engine.name());
    }
  }
}

}  // namespace fovea
