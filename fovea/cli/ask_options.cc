#include "fovea/cli/ask_options.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "fovea/ask/detection_answer.h"
#include "fovea/ask/numbers_file.h"
#include "fovea/ask/places.h"
#include "fovea/ask/question_kind.h"
#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/capture/array_file.h"
#include "fovea/cli/help.h"
#include "fovea/cli/map_options.h"
#include "fovea/cli/model_options.h"
#include "fovea/cli/outputs.h"
#include "fovea/cli/predictions.h"
#include "fovea/cli/run_summary.h"
#include "fovea/cli/show.h"
#include "fovea/cli/terminal.h"
#include "fovea/engine/input_file.h"
#include "fovea/io/npz.h"
#include "fovea/render/page.h"

namespace fovea {

std::vector<QuestionKind> kinds_of(std::string_view verb) {
  std::vector<QuestionKind> kinds = all_question_kinds();
  std::erase_if(
      kinds, [&](const QuestionKind& kind) { return std::ranges::count(kind.verbs, verb) == 0; });
  for (QuestionKind& kind : kinds) {
    if (kind.view.empty()) kind.view = kind.name;
  }
  return kinds;
}

namespace {

std::string option_name(std::string_view field) {
  std::string name(field);
  std::ranges::replace(name, '_', '-');
  return name;
}

// Of kinds that have a field in common the one that takes more. The help of one that few kinds have
// names them.
std::vector<FieldInfo> fields_of(std::string_view verb) {
  constexpr size_t kFew = 2;
  std::vector<FieldInfo> fields;
  std::map<std::string, std::vector<std::string>> kinds_with;
  const std::vector<QuestionKind> kinds = kinds_of(verb);
  for (const QuestionKind& kind : kinds) {
    for (const FieldInfo& field : kind.fields) {
      kinds_with[field.name].push_back(kind.view);
      const auto known = std::ranges::find(fields, field.name, &FieldInfo::name);
      if (known == fields.end()) {
        fields.push_back(field);
      } else if (field.several || field.shown.size() > known->shown.size()) {
        *known = field;
      }
    }
  }
  for (FieldInfo& field : fields) {
    const std::vector<std::string>& names = kinds_with[field.name];
    if (names.size() <= kFew && names.size() < kinds.size()) {
      field.help = fmt::format("{}: {}", fmt::join(names, ", "), field.help);
    }
  }
  return fields;
}

// Settings of the input; an option that went into the question is not one.
Json given_settings(const Args& args, const Question& question) {
  std::vector<FieldInfo> fields(input_fields().begin(), input_fields().end());
  const Json asked = to_json(question);
  std::erase_if(fields, [&](const FieldInfo& field) { return asked.find(field.name); });
  Json json = Json::object();
  set_given(json, args, fields);
  return json;
}

bool wants_numbers(const Args& args) {
  return args.flag("json") || (args.has("out") && is_data_suffix(args["out"]));
}

// Whether what is given is the name of a picture.
bool gives_picture(const GivenInput& given, const Engine& engine) {
  const ModelFacts& facts = engine.facts();
  return facts.takes_pixels() && (given.kind == GivenInput::Kind::kPicture ||
                                  // A model that reads no texts means a file, whatever its name.
                                  (given.kind == GivenInput::Kind::kText &&
                                   given.takes != InputKinds::kTexts && !facts.takes_text()));
}

PictureBytes picture_bytes(const GivenInput& given, const Engine& engine) {
  if (given.kind != GivenInput::Kind::kPicture && !file_exists(given.value)) {
    fail(ErrorKind::kInvalidArgument,
         "INPUT is '{}' but {} sees pictures and reads no text, and there is no such file; give it "
         "a picture file",
         given.value, engine.name());
  }
  return read_picture_bytes(given.value);
}

void check_no_picture(const GivenInput& given, const Engine& engine) {
  if (given.kind == GivenInput::Kind::kPicture && file_exists(given.value)) {
    fail(ErrorKind::kInvalidArgument,
         "INPUT is the picture '{}' but {} reads text; take a model that sees pictures, or give "
         "a text",
         given.value, engine.name());
  }
}

// Shorter words are what people are offered; the field's own are taken too.
Option choice_option(const FieldInfo& field, const std::string& name, const std::string& help) {
  std::vector<std::string> offered = field.words;
  std::map<std::string, std::string> others;
  for (const auto& [alias, word] : field.aliases) {
    std::ranges::replace(offered, word, alias);
    others.emplace(word, alias);
  }
  return Option::choice(name, std::move(offered), help).with_aliases(std::move(others));
}

// Verbs with one kind of question have no views.
bool names_view(const Args& args) {
  return args.knows("view") && args.has("view");
}

}  // namespace

void set_given(Json& json, const Args& args, std::span<const FieldInfo> fields) {
  for (const FieldInfo& field : fields) {
    const std::string name = option_name(field.name);
    if (args.knows(name) && args.has(name))
      json.set(field.name, typed_value(field, args.all(name)));
  }
}

std::vector<std::string> typed_words(const FieldInfo& field, const Json& value) {
  const std::string option = "--" + option_name(field.name);
  if (field.type == FieldType::kFlag) return {option};
  std::vector<std::string> words;
  for (std::string& text : typed_texts(field, value)) {
    words.push_back(option);
    words.push_back(std::move(text));
  }
  return words;
}

Option option_of(const FieldInfo& field) {
  const std::string name = option_name(field.name);
  std::string help = field.help;
  for (size_t place = help.find('`'); place != help.npos; place = help.find('`')) {
    const size_t end = help.find('`', place + 1);  // another field, as the program calls it
    help = help.substr(0, place) + "--" + option_name(help.substr(place + 1, end - place - 1)) +
           help.substr(end + 1);
  }
  if (!field.otherwise.empty()) help += fmt::format(" (default: {})", field.otherwise);
  switch (field.type) {
    case FieldType::kFlag:
      return Option::flag(name, help);
    case FieldType::kInteger:
      if (!field.words.empty()) break;
      return Option::integer(name, field.shown, help, static_cast<int64_t>(field.low));
    case FieldType::kReal:
      return Option::real(name, field.shown, help, field.low);
    case FieldType::kChoice:
      return choice_option(field, name, help);
    default:
      break;
  }
  const Option option = Option::text(name, field.shown, help);
  return field.several ? option.several_times() : option;
}

std::vector<Option> options_of(const std::vector<FieldInfo>& fields) {
  std::vector<Option> options;
  for (const FieldInfo& field : fields) options.push_back(option_of(field));
  return options;
}

std::vector<Option> question_options(std::string_view verb, std::vector<std::string> views,
                                     std::string usual) {
  std::map<std::string, std::string> aliases;  // a kind's own name serves too
  for (const QuestionKind& kind : kinds_of(verb)) {
    if (std::ranges::count(views, kind.view) == 0) views.push_back(kind.view);
    if (kind.name != kind.view) aliases.emplace(kind.name, kind.view);
  }
  if (usual.empty()) usual = "heads; matrix for one head, read for one token";
  std::vector<Option> options{
      Option::choice("view", std::move(views), fmt::format("what to draw (default: {})", usual))
          .with_aliases(std::move(aliases))};
  return joined(std::move(options), options_of(fields_of(verb)));
}

std::vector<Option> field_options(std::string_view verb) {
  return options_of(fields_of(verb));
}

std::string question_summaries(std::string_view verb) {
  std::vector<std::pair<std::string, std::string>> lines;
  for (const QuestionKind& kind : kinds_of(verb)) lines.emplace_back(kind.view, kind.summary);
  return "views:\n" + help_list(lines);
}

Question typed_question(const Args& args, std::string_view verb, RunSort sort, Json json) {
  const std::vector<QuestionKind> kinds = kinds_of(verb);
  if (json.find("kind") == nullptr && names_view(args)) {
    const auto named = std::ranges::find(kinds, args["view"], &QuestionKind::view);
    if (named != kinds.end()) json.set("kind", named->name);
  }
  set_given(json, args, fields_of(verb));
  Question question = parse_question(json, sort);
  // Files of numbers and JSON hold every cell.
  const QuestionKind& kind = question_kind_named(question.kind);
  if (find_field(kind.fields, "exact") != nullptr && wants_numbers(args)) {
    question.fields.set("exact", true);
  }
  return question;
}

std::vector<Option> input_field_options(std::initializer_list<std::string_view> names) {
  std::vector<Option> options;
  for (const std::string_view name : names) {
    options.push_back(option_of(*find_field(input_fields(), name)));
  }
  return options;
}

std::optional<PictureSize> given_size(const Args& args) {
  Json json = Json::object();
  set_given(json, args, {find_field(input_fields(), "size"), size_t{1}});
  return parse_input(json).size;
}

Input input_of(const Args& args, const GivenInput& given, const Engine& engine,
               const Question& question) {
  Input input = parse_input(given_settings(args, question));
  if (gives_picture(given, engine)) {
    input.what = picture_bytes(given, engine);
    return input;
  }
  check_no_picture(given, engine);
  if (given.kind == GivenInput::Kind::kTensors) {
    input.what = read_inputs(given.value);
  } else {
    check_reads_text(engine);
    input.what = Text{source_text(given)};
    if (!given.note.empty()) add_note(given.note);
  }
  return input;
}

bool takes_values(const Question& question) {
  return question.word("of") == "value-weighted";
}

void check_outputs_of(const Question& question, const Args& args) {
  if (question.kind.empty()) return;
  if (args.knows("out") && writes_page(args)) check_page(question);
  const bool arrays = args.knows("out") && args.has("out") && is_data_suffix(args["out"]) &&
                      lower_suffix(args["out"]) != ".json" && lower_suffix(args["out"]) != ".csv";
  if (arrays && !question_kind_named(question.kind).has_maps) {
    fail(ErrorKind::kInvalidArgument, Field{"out"},
         "'{}' would hold maps but {} is a table; write it as .json, .csv or a picture",
         args["out"], question.kind);
  }
}

void refuse_model_options(const Args& args, const GivenInput& run,
                          std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const bool usual = name == std::string_view("dtype") && args[name] == "f32";
    if (usual || !args.has(name)) continue;
    fail(ErrorKind::kInvalidArgument, "--{} is for running a model but '{}' is {}; leave it out",
         name, run.value, is_array_name(run.value) ? "an array of weights" : "a captured run");
  }
}

Session open_session(const Args& args, const GivenInput& given, std::string_view default_model,
                     const Question& question, const RecorderOptions& record) {
  check_outputs_of(question, args);
  return open_session(args, given, open_engine(args, default_model), question, record);
}

Session open_session(const Args& args, const GivenInput& given, Engine engine,
                     const Question& question, const RecorderOptions& record) {
  // --inputs of a model that sees pictures may be a picture, a text or both, which the run tells.
  const bool may_be_both =
      given.kind == GivenInput::Kind::kTensors && engine.facts().takes_pixels();
  if (!may_be_both) check_place(question, engine, gives_picture(given, engine));
  Input input = input_of(args, given, engine, question);
  return Session::open(std::move(engine), std::move(input), record);
}

PictureBytes read_picture_bytes(const std::string& name) {
  const auto file = MappedFile::open(name);
  const Bytes bytes = file->bytes();
  return {.bytes = std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()),
          .name = name};
}

std::vector<Option> answer_options() {
  return map_options({"colors", "json", "out", "pixels", "svg-text", "sidecar"});
}

void check_answer_options(const Args& args) {
  check_out_suffix(args);
  if (args.flag("json") && writes_page(args)) {
    fail(ErrorKind::kInvalidArgument, "--json has no place on a page; leave it out");
  }
  if (args.knows("mask-out")) check_mask_out(args);
  check_outputs(args);
}

bool writes_page(const Args& args) {
  return args.has("out") && is_page_suffix(args["out"]);
}

void show_page(const Session& session, const PageOptions& options, const Args& args) {
  const std::shared_ptr<const FinishedRun> run = session.run();
  print_warnings(run->result().warnings);
  write_run_page(run->run(), args, options);
}

namespace {

bool is_of_objects(const Question& question) {
  return question_kind_named(question.kind).check == check_finds_objects;
}

// Above what is drawn: what the model said, and of a run about which nothing is asked what it is.
std::string preface(const FinishedRun& run, const Question& question, const Args& args) {
  if (is_of_objects(question)) {
    return drawn(found_table(DetectedObjects(run, question)), args) + "\n";
  }
  const Terminal terminal = stdout_terminal();
  // Nothing more is said about a picture that was just given.
  const bool asks_nothing = !names_view(args) && to_json(question).as_object("").size() == 1 &&
                            question.kind == usual_kind(Json::object(), run.sort()) &&
                            !(run.opened && run.opened->picture);
  const std::string summary = asks_nothing ? run_summary(run.run(), terminal) + "\n" : "";
  // The summary tells source and target too.
  return run.is_translation() && asks_nothing ? summary : outputs_text(run, terminal) + summary;
}

}  // namespace

Content content_of(const Answer& answer) {
  Content content{.figure = answer.figure,
                  .data = [answer] { return numbers_of(answer); },
                  .json = [answer] { return whole(answer); },
                  .sidecar = [answer] { return answer_sidecar(answer); }};
  if (const auto* table = std::get_if<TableFigure>(&answer.figure)) {
    content.csv = [table = *table] { return table_csv(table); };
  }
  if (answer.records) content.csv = [records = *answer.records] { return records_csv(records); };
  if (answer.labels) content.labels = [labels = *answer.labels] { return labels; };
  if (answer.arrays && !answer.numbers_apart) {
    content.write_data = [answer](const auto& path) { write_arrays(path, answer); };
  }
  return content;
}

void show(const Session& session, const Question& question, const Args& args) {
  if (writes_page(args)) {
    PageOptions options = session.page(question);
    if (!names_view(args)) options.view.clear();  // a page opens as suits what it shows
    return show_page(session, options, args);
  }
  const Answer answer = session.ask(question);
  const std::shared_ptr<const FinishedRun> run = session.run();
  // In the terminal the table of objects tells that there are none.
  const bool told = is_of_objects(question) && !args.has("out") && !args.flag("json");
  print_warnings(told ? run->result().warnings : answer.notes);
  if (!answer.labels && args.knows("mask-out") && args.has("mask-out")) {
    fail(ErrorKind::kUnsupported, Field{"mask_out"}, "there is no mask of numbers to write");
  }
  std::string above = preface(*run, question, args);
  if (const Json* similarity = answer.facts.at("result", "").find("similarity")) {
    above += drawn(similarities_table(*similarity), args) + "\n";
  }
  show(content_of(answer), args, above);
}

}  // namespace fovea
