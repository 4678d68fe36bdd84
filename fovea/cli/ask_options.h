// Questions and inputs on the command line: makes options from what their fields say about
// themselves, reads the given values, and brings the answer out of the program.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/ask/question_kind.h"
#include "fovea/ask/session.h"
#include "fovea/cli/command.h"
#include "fovea/cli/given_input.h"
#include "fovea/cli/show.h"

namespace fovea {

// A field as an option: length_penalty is --length-penalty.
Option option_of(const FieldInfo& field);
std::vector<Option> options_of(const std::vector<FieldInfo>& fields);
// Sets the typed values of these fields in `json`.
void set_given(Json& json, const Args& args, std::span<const FieldInfo> fields);
// Its inverse: what to type for the value of a field.
std::vector<std::string> typed_words(const FieldInfo& field, const Json& value);

// The option --view and the fields of all kinds of questions that the verb offers. `views` come
// before those kinds.
std::vector<Option> question_options(std::string_view verb, std::vector<std::string> views = {},
                                     std::string usual = "");
// Those fields alone, for a verb whose views are no option.
std::vector<Option> field_options(std::string_view verb);
// The kinds of questions that the verb offers, with a view each.
std::vector<QuestionKind> kinds_of(std::string_view verb);
// What each view shows, for the help.
std::string question_summaries(std::string_view verb);
// The question that was typed. `json` holds what options do not say. Throws
// Error{kInvalidArgument}.
Question typed_question(const Args& args, std::string_view verb, RunSort sort = RunSort::kText,
                        Json json = Json::object());

// --size; none if it is not given.
std::optional<PictureSize> given_size(const Args& args);
// The options for these fields of an input.
std::vector<Option> input_field_options(std::initializer_list<std::string_view> names);
// The input: INPUT or what stands in its place, with its settings, except options that the question
// takes. `engine` decides how it is read.
Input input_of(const Args& args, const GivenInput& given, const Engine& engine,
               const Question& question = {});

// A picture file. Throws as MappedFile::open does.
PictureBytes read_picture_bytes(const std::string& name);

// Whether what is drawn needs the values, which the maps of pictures do without.
bool takes_values(const Question& question);

// Refuses outputs that the question cannot be written as, before any work.
void check_outputs_of(const Question& question, const Args& args);

// What a captured run has no use for. Throws Error{kInvalidArgument} for one that is given.
void refuse_model_options(const Args& args, const GivenInput& run,
                          std::initializer_list<const char*> names);
// Opens the model, checks the question by its facts, and then reads the input.
Session open_session(const Args& args, const GivenInput& given, std::string_view default_model,
                     const Question& question = {}, const RecorderOptions& record = {});
// The same for an open model. The caller has checked the outputs.
Session open_session(const Args& args, const GivenInput& given, Engine engine,
                     const Question& question = {}, const RecorderOptions& record = {});

// --colors --json --out --pixels --svg-text --sidecar: where an answer goes.
std::vector<Option> answer_options();
// Checks that these options go together. Throws Error{kInvalidArgument}.
void check_answer_options(const Args& args);

// Whether --out is a page of the whole run; the second function writes it.
bool writes_page(const Args& args);
void show_page(const Session& session, const PageOptions& options, const Args& args);

// An answer in all its forms.
Content content_of(const Answer& answer);
// Shows the answer by --out and --json, or in the terminal below what the model said. Without a
// question it also shows what the run is.
void show(const Session& session, const Question& question, const Args& args);

}  // namespace fovea
