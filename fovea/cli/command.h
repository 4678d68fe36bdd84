// A verb of the program as a value: its name, what it takes, what it does. Each file of commands/
// gives one. Help, parsing and the list of verbs are made from them.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace fovea {

class Error;

struct Option {
  enum class Kind { kFlag, kText, kInteger, kReal, kChoice };

  std::string name;         // "token": given as --token
  std::string placeholder;  // "LABEL|i": what help shows for the value
  std::string help;
  Kind kind = Kind::kText;
  std::string default_value;                   // empty: none
  std::vector<std::string> choices;            // kChoice: all of them; kText: what a shell offers
  std::map<std::string, std::string> aliases;  // kChoice: another word for a choice
  double low = -std::numeric_limits<double>::infinity();  // least number allowed
  bool required = false;
  bool repeatable = false;  // may be given several times
  char letter = 0;          // -m beside --model; 0: none

  static Option flag(std::string name, std::string help);
  static Option text(std::string name, std::string placeholder, std::string help);
  static Option integer(std::string name, std::string placeholder, std::string help, int64_t low);
  static Option real(std::string name, std::string placeholder, std::string help, double low);
  static Option choice(std::string name, std::vector<std::string> choices, std::string help);
  // Copies of the option with a change.
  Option must_be_given() const;
  Option with_default(std::string value) const;
  Option with_letter(char value) const;
  Option several_times() const;
  Option suggesting(std::vector<std::string> values) const;
  Option with_aliases(std::map<std::string, std::string> values) const;
};

// An argument without a name: `fovea text INPUT`. It may be empty text.
struct Positional {
  std::string name;  // "INPUT": shown by help, and what Args knows it by
  std::string help;
  bool required = true;
  std::vector<std::string> suggestions = {};  // what a shell offers
  bool is_file = true;                        // may be a file's name: a shell offers these too
  bool several = false;                       // takes all that follow; only the last one may
};

// What the user gave, by the names of options. A repeatable option may have several values.
using GivenValues = std::map<std::string, std::vector<std::string>, std::less<>>;

// What the user gave, checked against the options; aliases have become choices. Asking for an
// option that the command does not have is our own bug: Error{kInternal}.
class Args {
 public:
  // Throws Error{kInvalidArgument} if an option does not take its value, or if a required one is
  // missing.
  Args(std::string_view verb, const std::vector<Positional>& positionals,
       const std::vector<Option>& options, GivenValues given);
  // For a command that takes its arguments as they are.
  explicit Args(std::vector<std::string> rest) : rest_(std::move(rest)) {}

  bool knows(std::string_view name) const;  // the verb takes it, given or not
  bool has(std::string_view name) const;    // given, or has a default
  bool flag(std::string_view name) const { return has(name); }
  const std::string& operator[](std::string_view name) const;  // the first of several
  const std::vector<std::string>& all(std::string_view name) const;
  int64_t integer(std::string_view name) const;
  double real(std::string_view name) const;
  const GivenValues& given() const { return values_; }  // and defaults
  const std::vector<std::string>& rest() const { return rest_; }

 private:
  GivenValues values_;
  std::vector<std::string> known_;
  std::vector<std::string> rest_;
};

struct Command {
  std::string name;
  std::string summary;  // one line, lower case, no full stop
  std::string details;  // shown by --help below the options; may be empty
  std::vector<Positional> positionals;
  std::vector<Option> options;
  // Passes everything on in Args::rest(), even --help. `options` then only describe it.
  bool raw_arguments = false;
  std::function<void(const Args&)> run;
  // It computes nothing itself but waits for others that do, and must not hold the team meanwhile.
  bool leaves_team = false;
};

// Made from the folder commands/ by CMake, in the order of the names.
std::vector<Command> all_commands();

// An error as the user reads it: the verb's own word for the field stands in front. That is the
// option of the field's name, --size, else the argument, INPUT. If the verb takes neither, it is
// the field's own name.
std::string told(const Error& error, const Args& args);

// The whole text as a number. Throws Error{kInvalidArgument} that names `what`.
int64_t parse_integer(std::string_view what, std::string_view text);
double parse_real(std::string_view what, std::string_view text);

}  // namespace fovea
