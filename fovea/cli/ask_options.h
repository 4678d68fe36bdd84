// Questions and inputs on the command line: options made from what their fields say of themselves,
// what was given as values, and the answer out of the program.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/ask/session.h"
#include "fovea/cli/command.h"
#include "fovea/cli/given_input.h"
#include "fovea/cli/show.h"

namespace fovea {

// A field as an option: length_penalty is --length-penalty.
Option option_of(const FieldInfo& field);
std::vector<Option> options_of(const std::vector<FieldInfo>& fields);
// Sets what was typed of these.
void set_given(Json& json, const Args& args, std::span<const FieldInfo> fields);

// --view and the fields of all kinds of questions that the verb offers; `views` come before those
// kinds.
std::vector<Option> question_options(std::string_view verb, std::vector<std::string> views = {},
                                     std::string usual = "");
// What each view shows, for the help.
std::string question_summaries(std::string_view verb);
// What is asked of such a run; `json` holds what options do not say. Throws
// Error{kInvalidArgument}.
Question typed_question(const Args& args, std::string_view verb, RunSort sort = RunSort::kText,
                        Json json = Json::object());

// Those fields of an input.
std::vector<Option> input_field_options(std::initializer_list<std::string_view> names);
// INPUT or what stands in its place, with those settings, but for options that the question takes.
// `engine` says what it is read as.
Input input_of(const Args& args, const GivenInput& given, const Engine& engine,
               const Question& question = {});

// A picture file. Throws as MappedFile::open does.
PictureBytes read_picture_bytes(const std::string& name);

// What the question cannot be written as is refused before any work.
void check_outputs_of(const Question& question, const Args& args);

// Opens the model, checks the question by its facts, and then reads the input.
Session open_session(const Args& args, const GivenInput& given, std::string_view default_model,
                     const Question& question = {}, const RecorderOptions& record = {});
// The same of a model that is open; who calls it has looked at the outputs.
Session open_session(const Args& args, const GivenInput& given, Engine engine,
                     const Question& question = {}, const RecorderOptions& record = {});

// The session of the last question, for who asks several of one input: a large run takes seconds.
class KeptSession {
 public:
  // The kept one where it is of the same model, input and settings, else one that is opened.
  const Session& open(const Args& args, const GivenInput& given, std::string_view default_model,
                      const Question& question = {}, const RecorderOptions& record = {});

 private:
  std::string key_;
  std::optional<Session> session_;
};

// --colors --json --out --pixels --svg-text --sidecar: where an answer goes.
std::vector<Option> answer_options();
// What of these does not go together. Throws Error{kInvalidArgument}.
void check_answer_options(const Args& args);

// Whether --out is a page of the whole run, and writing it.
bool writes_page(const Args& args);
void show_page(const Session& session, const PageOptions& options, const Args& args);

// An answer, every way out.
Content content_of(const Answer& answer);
// By --out and --json, or in the terminal below what the model said. Without a question: what the
// run is, too.
void show(const Session& session, const Question& question, const Args& args);

}  // namespace fovea
