// What a model runs on, as the user gave it. Only this file decides whether INPUT is a text or the
// name of a file. Callers that have their own inputs, such as the lines of a corpus, say themselves
// what they are.
#pragma once

#include <string>
#include <string_view>

#include "fovea/cli/command.h"

namespace fovea {

// What a verb takes as INPUT. Each kind includes those before it.
enum class InputKinds { kTexts, kPictures, kRuns };

struct GivenInput {
  enum class Kind {
    kText,      // the text itself
    kTextFile,  // a file that holds the text
    kTensors,   // a file of token ids, features or pixels
    kPicture,   // a picture file
    kRun,       // a captured run, or an array of weights
  };
  Kind kind = Kind::kText;
  std::string value;                         // the text, or the name of the file
  InputKinds takes = InputKinds::kPictures;  // what its verb takes
  std::string note = {};                     // for users whose text is also the name of a file
};

// What a word of the command line is: an existing captured run or picture, or a name that only a
// picture would have; otherwise a text. Throws Error{kInvalidArgument} that begins with `option`
// for other existing files that fovea knows, such as tensors: nobody means the name as a text.
GivenInput input_of(std::string_view option, const std::string& word);
// Throws the same error for all files, except those that fovea does not know.
void check_is_text(std::string_view option, const std::string& word);

// INPUT, --text-file or --inputs. Throws Error{kInvalidArgument} unless exactly one is given, for a
// file that the verb does not take, and for one that --pair or --target names.
GivenInput given_input(const Args& args, InputKinds takes = InputKinds::kPictures);
// The same for a verb that takes texts and no --inputs, and has checked that one is given.
GivenInput given_source(const Args& args);

// Whether this is an existing picture, or a name that only a picture would have.
bool names_picture(std::string_view input);

// The text of an input, also if it is in a file. Throws as read_text_file does.
std::string source_text(const GivenInput& input);

}  // namespace fovea
