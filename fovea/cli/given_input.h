// What a model is run on, as the user gave it. Whether INPUT is a text or the name of a file is
// decided here and nowhere else; who has inputs of his own, the lines of a corpus say, says himself
// what they are.
#pragma once

#include <string>
#include <string_view>

#include "fovea/cli/command.h"

namespace fovea {

// What a verb takes as INPUT, each with what stands before it.
enum class InputKinds { kTexts, kPictures, kRuns };

struct GivenInput {
  enum class Kind {
    kText,      // the text itself
    kTextFile,  // a file that holds the text
    kTensors,   // a file of token ids, features or pixels
    kPicture,   // a picture file
    kRun,       // a captured run
  };
  Kind kind = Kind::kText;
  std::string value;                         // the text, or the name of the file
  InputKinds takes = InputKinds::kPictures;  // of the verb it was given to
  std::string note = {};                     // for who gave a text that is the name of a file too
};

// What a word of the command line is: a captured run or a picture that is there, or a name that
// only a picture would have; otherwise a text. Throws Error{kInvalidArgument} that begins with
// `option` for another file that is there and that fovea knows, tensors say: nobody means its name.
GivenInput input_of(std::string_view option, const std::string& word);
// Throws the same for all files but those that it does not know.
void check_is_text(std::string_view option, const std::string& word);

// INPUT, --text-file or --inputs. Throws Error{kInvalidArgument} unless exactly one is given, for a
// file that the verb does not take, and for one that --pair or --target names.
GivenInput given_input(const Args& args, InputKinds takes = InputKinds::kPictures);
// The same of a verb that takes texts and no --inputs, and has looked that one is given.
GivenInput given_source(const Args& args);

// Whether this is a picture that is there, or a name that only a picture would have.
bool names_picture(std::string_view input);

// Of an input that is read as a text, be it in a file. Throws as read_text_file does.
std::string source_text(const GivenInput& input);

}  // namespace fovea
