#include "fovea/cli/cli.h"

#include <algorithm>
#include <cstdio>
#include <new>

#include "fovea/base/error.h"
#include "fovea/base/suggest.h"
#include "fovea/base/team.h"
#include "fovea/base/watch.h"
#include "fovea/cli/command.h"
#include "fovea/cli/completion.h"
#include "fovea/cli/help.h"
#include "fovea/cli/interrupt.h"
#include "fovea/cli/man_page.h"
#include "fovea/cli/parse.h"
#include "fovea/cli/progress_bar.h"
#include "fovea/cli/terminal.h"
#include "fovea/kernels/simd_targets.h"

namespace fovea {
namespace {

// What a shell expects after Ctrl-C.
constexpr int kInterrupted = 130;

int exit_code(ErrorKind kind) {
  if (kind == ErrorKind::kCancelled && interrupt_waits()) return kInterrupted;
  return answer_to(kind).exit_code;
}

const Command& command_named(const std::vector<Command>& commands, const std::string& name) {
  std::vector<std::string> names;
  for (const Command& command : commands) {
    if (command.name == name) return command;
    names.push_back(command.name);
  }
  if (name.starts_with('-')) {
    fail(ErrorKind::kInvalidArgument,
         "'{}' comes before a verb; write `fovea VERB {}`, `fovea --help` lists the verbs", name,
         name);
  }
  fail(ErrorKind::kInvalidArgument, "there is no verb '{}'{}; `fovea --help` lists them", name,
       did_you_mean(name, names));
}

[[noreturn]] void refuse_more(std::string_view after, const std::string& word) {
  fail(ErrorKind::kInvalidArgument, "'{}' has no meaning after `fovea {}`; leave it out", word,
       after);
}

// help [VERB] [--man]: for a terminal, or as a manual page.
std::string help_text(const std::vector<Command>& commands, std::vector<std::string> words) {
  const bool man = std::erase(words, "--man") > 0;
  if (words.size() > 1) refuse_more("help VERB", words[1]);
  if (words.empty()) return man ? program_man_page(commands) : program_help(commands);
  const Command& command = command_named(commands, words[0]);
  return man ? command_man_page(command) : command_help(command);
}

void run_verb(const std::vector<std::string>& arguments) {
  const std::vector<Command> commands = all_commands();
  if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h") {
    write_stdout(program_help(commands));
    return;
  }
  if (arguments[0] == "--version") {
    if (arguments.size() > 1) refuse_more("--version", arguments[1]);
    write_stdout(program_version() + "\n");
    return;
  }
  if (arguments[0] == "--complete") {  // asked by the scripts of `fovea completion`
    write_stdout(complete(commands, {arguments.begin() + 1, arguments.end()}));
    return;
  }
  if (arguments[0] == "help") {
    write_stdout(help_text(commands, {arguments.begin() + 1, arguments.end()}));
    return;
  }
  const Command& command = command_named(commands, arguments[0]);
  const ParsedCommand parsed = parse_command(command, {arguments.begin() + 1, arguments.end()});
  if (parsed.help) {
    write_stdout(command_help(command));
    return;
  }
  if (!command.raw_arguments && parsed.args.has("threads")) {
    // More than this many threads only cost memory.
    set_thread_count(static_cast<int>(std::min<int64_t>(parsed.args.integer("threads"), 1024)));
  }
  const WatchScope scope({.cancel = interrupt_token(), .progress = progress_bars()});
  try {
    if (command.leaves_team) {
      command.run(parsed.args);
    } else {
      run_on_team([&] { command.run(parsed.args); });
    }
  } catch (const Error& error) {
    throw Error(error.kind(), told(error, parsed.args));
  }
}

int report(ErrorKind kind, const char* prefix, const char* message,
           const char* suffix = "") noexcept {
  try {
    std::fprintf(stderr, "fovea: %s%s%s\n", prefix, printable(message).c_str(), suffix);
  } catch (...) {
    std::fputs("fovea: failed, and too little memory is left to say why\n", stderr);
  }
  return exit_code(kind);
}

}  // namespace

int run_cli(const std::vector<std::string>& arguments) noexcept {
  try {
    follow_isa_variable();
    run_verb(arguments);
    write_notes();
    return 0;
  } catch (const Error& error) {
    return report(error.kind(), "", error.what());
  } catch (const std::bad_alloc&) {
    return report(ErrorKind::kOutOfMemory, "", "there is not enough memory; use a smaller input");
  } catch (const std::exception& error) {
    return report(ErrorKind::kInternal, "unexpected: ", error.what(), "; please report this");
  } catch (...) {
    return report(ErrorKind::kInternal, "", "an unknown failure; please report this");
  }
}

}  // namespace fovea
