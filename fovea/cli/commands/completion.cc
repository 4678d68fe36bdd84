#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "fovea/base/error.h"
#include "fovea/base/suggest.h"
#include "fovea/cli/command.h"
#include "fovea/cli/terminal.h"

namespace fovea {
namespace {

// Each asks `fovea --complete WORDS...` (completion.h), so that none has to know verbs or options.
constexpr const char* kBash = R"script(# fovea: completion for bash
_fovea() {
  local cur=${COMP_WORDS[COMP_CWORD]} line names=() files=
  [ "$cur" != = ] || cur=
  while IFS= read -r line; do
    if [ "$line" = :files ]; then files=yes; else names+=("${line%%$'\t'*}"); fi
  done < <("$1" --complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  COMPREPLY=("${names[@]}")
  [ -n "$files" ] || return 0
  if [ ${#names[@]} = 0 ]; then
    compopt -o default 2>/dev/null # knows about quotes and ~
  else
    compopt -o filenames 2>/dev/null
    while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$cur")
  fi
}
complete -F _fovea fovea
)script";

constexpr const char* kZsh = R"script(#compdef fovea
# fovea: completion for zsh
_fovea() {
  local line files
  local -a names
  for line in "${(@f)$("${(Q)words[1]}" --complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
    case $line in
      '') ;;
      :files) files=yes ;;
      *) names+=("${${line//:/\\:}/$'\t'/:}") ;;
    esac
  done
  (( ${#names} == 0 )) || _describe fovea names
  if [[ -n $files ]]; then
    [[ $words[CURRENT] != --*=* ]] || compset -P '*='
    _files
  fi
}
if [[ $funcstack[1] == _fovea ]]; then _fovea "$@"; else compdef _fovea fovea; fi
)script";

constexpr const char* kFish = R"script(# fovea: completion for fish
function __fovea_complete
    set -l words (commandline -opc)
    set -l typed (commandline -ct)
    for line in ($words[1] --complete $words[2..-1] "$typed" 2>/dev/null)
        if test "$line" = :files
            __fish_complete_path "$typed"
        else
            echo $line
        end
    end
end
complete -c fovea -f -a '(__fovea_complete)'
)script";

struct Shell {
  const char* name;
  const char* script;
};
constexpr std::array<Shell, 3> kShells{{{"bash", kBash}, {"zsh", kZsh}, {"fish", kFish}}};

std::vector<std::string> shell_names() {
  std::vector<std::string> names;
  for (const Shell& shell : kShells) names.emplace_back(shell.name);
  return names;
}

void run_completion(const Args& args) {
  const std::string& name = args["SHELL"];
  const auto shell = std::ranges::find(kShells, std::string_view(name), &Shell::name);
  if (shell == kShells.end()) {
    fail(ErrorKind::kInvalidArgument, "SHELL is '{}' but must be one of {}{}", name,
         fmt::join(shell_names(), ", "), did_you_mean(name, shell_names()));
  }
  write_stdout(shell->script);
}

}  // namespace

Command completion_command() {
  return {.name = "completion",
          .summary = "what makes a shell complete verbs, options, their values and models",
          .details =
              "An installed fovea needs none of this: its files are where shells look.\n"
              "\n"
              "examples:\n"
              "  source <(fovea completion bash)\n"
              "  source <(fovea completion zsh)\n"
              "  fovea completion fish | source\n",
          .positionals = {{.name = "SHELL",
                           .help = "bash, zsh or fish",
                           .suggestions = shell_names(),
                           .is_file = false}},
          .run = run_completion};
}

}  // namespace fovea
