// What `fovea explain` asks, and of what: options as a question, and the session that answers it.
#pragma once

#include <vector>

#include "fovea/ask/session.h"
#include "fovea/cli/command.h"
#include "fovea/cli/given_input.h"

namespace fovea {

// Those of the question's fields; a method's name, or with --compare several.
std::vector<Option> explanation_options();
// --compare and what else is not of the question.
std::vector<Option> check_options();
// Contradictions among them. Throws Error{kInvalidArgument}.
void check_check_args(const Args& args);

// Of a captured run. Throws Error{kInvalidArgument} for options that only a model or its input has.
void check_run_args(const GivenInput& given, const Args& args);

// Without and with --compare. Throws Error{kInvalidArgument}.
Question typed_explanation(const Args& args);
Question typed_comparison(const Args& args);

// The model of --model, or what suits the input and the question. Throws as open_engine does.
Engine open_explained_engine(const Args& args, const GivenInput& given, const Question& question);
// Throws what open_run_file() throws of a captured run, and else what opening a session does.
Session open_explained(const Args& args, const GivenInput& given, const Question& question);

// Pictures that --class and --against name are read. Throws Error{kInvalidArgument} for a file that
// is neither a text nor a picture that the model sees.
void read_named_pictures(Question& question, const Engine& engine);

}  // namespace fovea
