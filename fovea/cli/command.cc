#include "fovea/cli/command.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/base/parse.h"
#include "fovea/base/suggest.h"

namespace fovea {
namespace {

void check_low(const Option& option, std::string_view text, double number) {
  if (number < option.low) {
    fail(ErrorKind::kInvalidArgument, "--{} is {} but must be {} or more", option.name, text,
         option.low);
  }
}

[[noreturn]] void fail_choice(const Option& option, const std::string& text) {
  // --scale once was how large a .png is.
  if (option.name == "scale" && parse_number<int64_t>(text)) {
    fail(ErrorKind::kInvalidArgument,
         "--scale is '{}' but must be one of {}; pixels of a .png per unit are --pixels {}", text,
         fmt::join(option.choices, ", "), text);
  }
  std::vector<std::string> words = option.choices;
  for (const auto& [alias, choice] : option.aliases) words.push_back(alias);
  fail(ErrorKind::kInvalidArgument, "--{} is '{}' but must be one of {}{}", option.name, text,
       fmt::join(option.choices, ", "), did_you_mean(text, words));
}

void check_value(const Option& option, const std::string& text) {
  const std::string what = "--" + option.name;
  switch (option.kind) {
    case Option::Kind::kInteger:
      check_low(option, text, static_cast<double>(parse_integer(what, text)));
      break;
    case Option::Kind::kReal:
      check_low(option, text, parse_real(what, text));
      break;
    case Option::Kind::kChoice:
      if (std::ranges::count(option.choices, text) == 0) fail_choice(option, text);
      break;
    case Option::Kind::kText:
      if (text.empty()) {
        fail(ErrorKind::kInvalidArgument, "{} is empty; give it a value", what);
      }
      break;
    case Option::Kind::kFlag:
      break;
  }
}

// The word that a verb has for a field.
std::string word_of(const std::string& field, const Args& args) {
  std::string option = field == "kind" ? "view" : field;
  std::ranges::replace(option, '_', '-');
  if (args.knows(option)) return "--" + option;
  std::string argument = field;
  for (char& letter : argument) {
    letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  }
  return args.knows(argument) ? argument : field;
}

// A message with the verb's own words where it names other fields `like this`.
std::string with_own_words(std::string_view message, const Args& args) {
  std::string text;
  while (!message.empty()) {
    const size_t begin = message.find('`');
    const size_t end = begin == message.npos ? begin : message.find('`', begin + 1);
    if (end == message.npos) break;
    const std::string field(message.substr(begin + 1, end - begin - 1));
    const std::string own = word_of(field, args);
    text += message.substr(0, begin);
    const bool quoted = begin > 0 && message[begin - 1] == '\'';  // somebody's own text
    text += own == field || quoted ? "`" + field + "`" : own;
    message.remove_prefix(end + 1);
  }
  return text + std::string(message);
}

}  // namespace

std::string told(const Error& error, const Args& args) {
  if (error.field().empty()) return error.what();
  // A verb with one kind of question has no word for it.
  if (error.field() == "kind" && !args.knows("view")) return with_own_words(error.what(), args);
  return fmt::format("{}: {}", word_of(error.field(), args), with_own_words(error.what(), args));
}

int64_t parse_integer(std::string_view what, std::string_view text) {
  const auto number = parse_number<int64_t>(text);
  if (!number) {
    fail(ErrorKind::kInvalidArgument, "{} is '{}' but must be a whole number", what, text);
  }
  return *number;
}

double parse_real(std::string_view what, std::string_view text) {
  const auto number = parse_number<double>(text);
  if (!number || !std::isfinite(*number)) {
    fail(ErrorKind::kInvalidArgument, "{} is '{}' but must be a finite number", what, text);
  }
  return *number;
}

Option Option::flag(std::string name, std::string help) {
  return {.name = std::move(name), .help = std::move(help), .kind = Kind::kFlag};
}

Option Option::text(std::string name, std::string placeholder, std::string help) {
  return {.name = std::move(name), .placeholder = std::move(placeholder), .help = std::move(help)};
}

Option Option::integer(std::string name, std::string placeholder, std::string help, int64_t low) {
  Option option = text(std::move(name), std::move(placeholder), std::move(help));
  option.kind = Kind::kInteger;
  option.low = static_cast<double>(low);
  return option;
}

Option Option::real(std::string name, std::string placeholder, std::string help, double low) {
  Option option = text(std::move(name), std::move(placeholder), std::move(help));
  option.kind = Kind::kReal;
  option.low = low;
  return option;
}

Option Option::choice(std::string name, std::vector<std::string> choices, std::string help) {
  Option option =
      text(std::move(name), fmt::format("{}", fmt::join(choices, "|")), std::move(help));
  option.kind = Kind::kChoice;
  option.choices = std::move(choices);
  return option;
}

Option Option::must_be_given() const {
  Option option = *this;
  option.required = true;
  return option;
}

Option Option::with_default(std::string value) const {
  Option option = *this;
  option.default_value = std::move(value);
  return option;
}

Option Option::with_letter(char value) const {
  Option option = *this;
  option.letter = value;
  return option;
}

Option Option::several_times() const {
  Option option = *this;
  option.repeatable = true;
  return option;
}

Option Option::suggesting(std::vector<std::string> values) const {
  Option option = *this;
  option.choices = std::move(values);
  return option;
}

Option Option::with_aliases(std::map<std::string, std::string> values) const {
  Option option = *this;
  option.aliases = std::move(values);
  return option;
}

Args::Args(std::string_view verb, const std::vector<Positional>& positionals,
           const std::vector<Option>& options, GivenValues given)
    : values_(std::move(given)) {
  for (const Positional& positional : positionals) {
    known_.push_back(positional.name);
    if (positional.required && values_.find(positional.name) == values_.end()) {
      fail(ErrorKind::kInvalidArgument, "{} needs {}, {}; see `fovea {} --help`", verb,
           positional.name, positional.help, verb);
    }
  }
  for (const Option& option : options) {
    known_.push_back(option.name);
    const auto value = values_.find(option.name);
    if (value != values_.end()) {
      for (std::string& text : value->second) {
        if (const auto alias = option.aliases.find(text); alias != option.aliases.end()) {
          text = alias->second;
        }
        check_value(option, text);
      }
    } else if (option.required) {
      fail(ErrorKind::kInvalidArgument, "{} needs --{} {}; see `fovea {} --help`", verb,
           option.name, option.placeholder, verb);
    } else if (!option.default_value.empty()) {
      values_[option.name] = {option.default_value};
    }
  }
}

bool Args::knows(std::string_view name) const {
  return std::ranges::find(known_, name) != known_.end();
}

bool Args::has(std::string_view name) const {
  if (!knows(name)) {
    fail(ErrorKind::kInternal, "the option --{} is asked for but not declared; please report this",
         name);
  }
  return values_.find(name) != values_.end();
}

const std::string& Args::operator[](std::string_view name) const {
  return all(name).front();
}

const std::vector<std::string>& Args::all(std::string_view name) const {
  if (!has(name)) {
    fail(ErrorKind::kInternal, "--{} is used but was not given; please report this", name);
  }
  return values_.find(name)->second;
}

int64_t Args::integer(std::string_view name) const {
  return parse_integer(name, (*this)[name]);
}

double Args::real(std::string_view name) const {
  return parse_real(name, (*this)[name]);
}

}  // namespace fovea
