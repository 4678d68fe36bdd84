#include "fovea/cli/help.h"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/base/utf8.h"
#include "fovea/base/version.h"
#include "fovea/cli/parse.h"

namespace fovea {
namespace {

constexpr int kColumns = 80;

// `text` in lines of at most kColumns, each after the first indented by `indent`; choices that are
// too many for a line are broken after a bar.
std::string wrap_help(std::string_view text, int indent) {
  std::string result;
  int column = indent;
  const auto begin_line = [&] {
    result += "\n" + std::string(static_cast<size_t>(indent), ' ');
    column = indent;
  };
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    const int width = display_width(word);
    if (column > indent && column + 1 + width > kColumns) begin_line();
    const size_t bar = word.substr(0, static_cast<size_t>(kColumns - indent)).rfind('|');
    if (indent + width > kColumns && bar != std::string_view::npos) {
      result += word.substr(0, bar + 1);
      begin_line();
      text.remove_prefix(bar + 1);
      continue;
    }
    if (column > indent) {
      result += ' ';
      ++column;
    }
    result += word;
    column += width;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

std::string help_signature(const Option& option) {
  std::string text = "--" + option.name;
  if (option.letter != 0) text = fmt::format("-{}, {}", option.letter, text);
  if (option.kind == Option::Kind::kFlag) return text;
  return text + " " + (option.kind == Option::Kind::kChoice ? "NAME" : option.placeholder);
}

std::string help_signature(const Positional& positional) {
  const std::string name = positional.name + (positional.several ? "..." : "");
  return positional.required ? name : "[" + name + "]";
}

}  // namespace

std::string describe(const Option& option) {
  std::string text = option.help;
  if (option.kind == Option::Kind::kChoice) text += ": " + option.placeholder;
  if (!option.default_value.empty()) text += " (default: " + option.default_value + ")";
  return text;
}

std::string program_help(std::span<const Command> commands) {
  size_t widest = 0;
  for (const Command& command : commands) widest = std::max(widest, command.name.size());
  std::string text =
      "fovea shows what a transformer is looking at.\n\nusage: fovea VERB [options]\n\nverbs:\n";
  for (const Command& command : commands) {
    const int indent = static_cast<int>(widest) + 6;
    text +=
        fmt::format("  {:<{}}  {}\n", command.name, widest + 2, wrap_help(command.summary, indent));
  }
  text +=
      "\n`fovea VERB --help` explains a verb, `fovea --version` prints the version;\n"
      "`fovea completion SHELL` prints what makes a shell complete verbs and options.\n"
      "Exit codes: 0 all went well, 1 it failed, 2 the command line was wrong.\n";
  return text;
}

std::string command_help(const Command& command) {
  std::vector<Option> options = options_of(command);
  options.push_back(Option::flag("help", "this text"));
  std::string usage = "usage: fovea " + command.name;
  size_t widest = 0;
  for (const Positional& positional : command.positionals) {
    usage += " " + help_signature(positional);
    widest = std::max(widest, help_signature(positional).size());
  }
  for (const Option& option : options) {
    if (option.required) usage += " " + help_signature(option);
    widest = std::max(widest, help_signature(option).size());
  }
  const int indent = static_cast<int>(widest) + 5;
  std::string text =
      fmt::format("fovea {}: {}\n\n{} [options]\n\n", command.name,
                  wrap_help(command.summary, static_cast<int>(command.name.size()) + 8), usage);
  for (const Positional& positional : command.positionals) {
    text += fmt::format("  {:<{}}   {}\n", help_signature(positional), widest,
                        wrap_help(positional.help, indent));
  }
  text += command.positionals.empty() ? "options:\n" : "\noptions:\n";
  for (const Option& option : options) {
    text += fmt::format("  {:<{}}   {}\n", help_signature(option), widest,
                        wrap_help(describe(option), indent));
  }
  if (!command.details.empty()) text += "\n" + command.details;
  return text;
}

std::string help_list(std::span<const std::pair<std::string, std::string>> lines) {
  size_t widest = 0;
  for (const auto& [name, meaning] : lines) widest = std::max(widest, name.size());
  std::string text;
  for (const auto& [name, meaning] : lines) {
    text += fmt::format("  {:<{}}  {}\n", name, widest,
                        wrap_help(meaning, static_cast<int>(widest) + 4));
  }
  return text;
}

std::string program_version() {
  return fmt::format("fovea {}", version());
}

}  // namespace fovea
