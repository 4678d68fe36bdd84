#include "fovea/cli/parse.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <optional>

#include "fovea/base/error.h"
#include "fovea/cli/suggest.h"

namespace fovea {
namespace {

using Given = std::map<std::string, std::string, std::less<>>;

std::vector<Option> options_of(const Command& command) {
  std::vector<Option> options = command.options;
  const std::vector<Option> common = common_options();
  options.insert(options.end(), common.begin(), common.end());
  return options;
}

[[noreturn]] void fail_extra(const Command& command, const std::vector<Option>& options,
                             const Given& given, const std::string& extra) {
  if (extra.size() > 1 && extra.front() == '-') {
    std::vector<std::string> known{"--help"};
    for (const Option& option : options) known.push_back("--" + option.name);
    fail(ErrorKind::kInvalidArgument, "{} has no option '{}'{}; see `fovea {} --help`",
         command.name, extra, did_you_mean(extra.substr(0, extra.find('=')), known), command.name);
  }
  for (const Option& option : options) {
    if (option.required && given.find(option.name) == given.end()) {
      fail(ErrorKind::kInvalidArgument, "{} takes no plain argument '{}'; did you mean '--{} {}'?",
           command.name, extra, option.name, extra);
    }
  }
  fail(ErrorKind::kInvalidArgument, "{} takes no plain argument '{}'; see `fovea {} --help`",
       command.name, extra, command.name);
}

}  // namespace

std::vector<Option> common_options() {
  return {Option::integer("threads", "N", "processor cores to use (default: all)", 1)};
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
    if (option.kind == Option::Kind::kFlag) {
      app.add_flag("--" + option.name, flags[option.name]);
    } else {
      app.add_option("--" + option.name, texts[option.name])
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

  Given given;
  for (const auto& [name, count] : flags) {
    if (count > 0) given.emplace(name, "");
  }
  for (const auto& [name, values] : texts) {
    if (values.size() > 1) {
      fail(ErrorKind::kInvalidArgument, "--{} is given {} times; give it once", name,
           values.size());
    }
    if (!values.empty()) given.emplace(name, values.front());
  }
  const std::vector<std::string> extras = app.remaining();
  if (!extras.empty()) fail_extra(command, options, given, extras.front());
  return {.args = Args(command.name, options, std::move(given))};
}

}  // namespace fovea
