#include "fovea/cli/parse.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>

#include "fovea/base/error.h"
#include "fovea/base/suggest.h"

namespace fovea {
namespace {

[[noreturn]] void fail_extra(const Command& command, const std::vector<Option>& options,
                             const GivenValues& given, const std::string& extra) {
  if (extra.size() > 1 && extra.front() == '-') {
    std::vector<std::string> known{"--help"};
    for (const Option& option : options) known.push_back("--" + option.name);
    if (extra.substr(0, extra.find('=')) == "--scale" &&
        std::ranges::count(known, "--pixels") > 0) {
      fail(ErrorKind::kInvalidArgument,
           "{} has no option '--scale'; pixels of a .png per unit are --pixels N", command.name);
    }
    fail(ErrorKind::kInvalidArgument, "{} has no option '{}'{}; see `fovea {} --help`",
         command.name, extra, did_you_mean(extra.substr(0, extra.find('=')), known), command.name);
  }
  for (const Option& option : options) {
    if (option.required && command.positionals.empty() && given.find(option.name) == given.end()) {
      fail(ErrorKind::kInvalidArgument, "{} takes no plain argument '{}'; did you mean '--{} {}'?",
           command.name, extra, option.name, extra);
    }
  }
  if (!command.positionals.empty()) {
    fail(ErrorKind::kInvalidArgument,
         "{} takes {} plain argument{}, and '{}' is one more; put text in quotes", command.name,
         command.positionals.size(), command.positionals.size() == 1 ? "" : "s", extra);
  }
  fail(ErrorKind::kInvalidArgument, "{} takes no plain argument '{}'; see `fovea {} --help`",
       command.name, extra, command.name);
}

// What is left after the options, in order. After "--" even what begins with a dash is one.
void take_positionals(const Command& command, const std::vector<Option>& options,
                      const std::vector<std::string>& rest, GivenValues& given) {
  size_t taken = 0;
  bool only_positionals = false;
  for (const std::string& word : rest) {
    if (word == "--" && !only_positionals) {
      only_positionals = true;
      continue;
    }
    const bool goes_on =
        taken > 0 && taken == command.positionals.size() && command.positionals.back().several;
    const bool is_option = !only_positionals && word.starts_with("-") && word.size() > 1 &&
                           word.find(' ') == std::string::npos;
    if (goes_on && !is_option) {
      given[command.positionals.back().name].push_back(word);
      continue;
    }
    if (only_positionals && taken == command.positionals.size() && word.starts_with("-")) {
      fail(ErrorKind::kInvalidArgument,
           "{} takes {} plain argument{}, and '{}' after -- is one more; put options before --",
           command.name, taken, taken == 1 ? "" : "s", word);
    }
    if (is_option || taken == command.positionals.size()) {
      fail_extra(command, options, given, word);
    }
    given[command.positionals[taken++].name] = {word};
  }
}

}  // namespace

std::vector<Option> options_of(const Command& command) {
  std::vector<Option> options = command.options;
  if (!command.raw_arguments) {
    options.push_back(Option::integer("threads", "N", "processor cores to use (default: all)", 1));
  }
  return options;
}

ParsedCommand parse_command(const Command& command, const std::vector<std::string>& arguments) {
  if (command.raw_arguments) return {.args = Args(arguments)};
  const std::vector<Option> options = options_of(command);
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  bool help = false;
  app.add_flag("-h,--help", help);
  std::map<std::string, std::vector<std::string>> texts;
  std::map<std::string, int64_t> flags;
  for (const Option& option : options) {
    std::string names = "--" + option.name;
    if (option.letter != 0) names = fmt::format("-{},{}", option.letter, names);
    if (option.kind == Option::Kind::kFlag) {
      app.add_flag(names, flags[option.name]);
    } else {
      app.add_option(names, texts[option.name])
          ->expected(1)
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
          ->allow_extra_args(false);
    }
  }
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string text = error.what();  // "--token: 1 required TEXT missing"
    fail(ErrorKind::kInvalidArgument, "{} needs a value; see `fovea {} --help`",
         text.substr(0, text.find(':')), command.name);
  } catch (const CLI::ParseError& error) {
    fail(ErrorKind::kInvalidArgument, "{}; see `fovea {} --help`", error.what(), command.name);
  }
  if (help) return {.help = true, .args = Args(arguments)};

  GivenValues given;
  for (const auto& [name, count] : flags) {
    if (count > 0) given[name] = {""};
  }
  for (const Option& option : options) {
    const std::vector<std::string>& values = texts[option.name];
    if (values.size() > 1 && !option.repeatable) {
      fail(ErrorKind::kInvalidArgument, "--{} is given {} times; give it once", option.name,
           values.size());
    }
    if (!values.empty()) given[option.name] = values;
  }
  take_positionals(command, options, app.remaining(), given);
  return {.args = Args(command.name, command.positionals, options, std::move(given))};
}

}  // namespace fovea
