#include "fovea/cli/completion.h"

#include <algorithm>
#include <string_view>

#include "fovea/cli/parse.h"
#include "fovea/engine/model_info.h"

namespace fovea {
namespace {

// Enough of a help text to choose by: what is before its first bracket, colon or semicolon.
std::string_view short_meaning(std::string_view help) {
  for (const std::string_view end : {" (", ": ", "; "}) help = help.substr(0, help.find(end));
  return help;
}

class Candidates {
 public:
  explicit Candidates(std::string_view typed) : typed_(typed) {}

  void add(std::string_view word, std::string_view help = {}) {
    if (!word.starts_with(typed_)) return;
    text_ += prefix_;
    text_ += word;
    if (!help.empty()) (text_ += '\t') += short_meaning(help);
    text_ += '\n';
  }
  void add_all(const std::vector<std::string>& words) {
    for (const std::string& word : words) add(word);
  }
  // Words that are taken but need not be shown before one of them is begun.
  void add_aliases(const std::map<std::string, std::string>& aliases) {
    if (typed_.empty()) return;
    for (const auto& [alias, choice] : aliases) add(alias);
  }
  void add_files() { (text_ += kCompleteFiles) += '\n'; }
  // In --view=ma, only what follows `prefix` is chosen, but the whole word is offered.
  void begin_after(std::string_view prefix) {
    prefix_ = prefix;
    typed_.remove_prefix(prefix.size());
  }
  std::string take() { return std::move(text_); }

 private:
  std::string_view typed_;
  std::string prefix_;
  std::string text_;
};

bool takes_value(const Option& option) {
  return option.kind != Option::Kind::kFlag;
}

const Option* find_option(std::span<const Option> options, std::string_view word) {
  for (const Option& option : options) {
    if (word == "--" + option.name) return &option;
    if (option.letter != 0 && word == std::string("-") + option.letter) return &option;
  }
  return nullptr;
}

// The alternatives of "N|mean|all" that stand for themselves; WORD, i and i-j do not.
void add_literals(const Option& option, Candidates& candidates) {
  std::string_view rest = option.placeholder;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('|'), rest.size());
    const std::string_view word = rest.substr(0, end);
    const bool lower = std::ranges::all_of(word, [](char c) { return c >= 'a' && c <= 'z'; });
    if (lower && word.size() > 1) candidates.add(word);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

void add_values(const Option& option, Candidates& candidates) {
  const std::string_view place = option.placeholder;
  if (!option.choices.empty()) {
    candidates.add_all(option.choices);
    candidates.add_aliases(option.aliases);
  } else if (option.name.ends_with("model")) {
    for (const LocalModel& model : local_models(ModelCaches::from_environment())) {
      if (model.supported) candidates.add(model.name, model.model_type);
    }
    candidates.add_files();
  } else if (place.starts_with("FILE") || place.starts_with("DIR") || place.starts_with("RUN")) {
    candidates.add_files();
  } else {
    add_literals(option, candidates);
  }
}

void add_options(std::span<const Option> options, std::span<const Option* const> given,
                 Candidates& candidates) {
  for (const Option& option : options) {
    if (option.repeatable || std::ranges::count(given, &option) == 0) {
      candidates.add("--" + option.name, option.help);
    }
  }
  candidates.add("--help", "explains the verb");
}

void add_verbs(std::span<const Command> commands, Candidates& candidates) {
  for (const Command& command : commands) candidates.add(command.name, command.summary);
}

// What stands before the unfinished word.
struct CompletionLine {
  std::vector<const Option*> given;
  const Option* open = nullptr;  // its value is due
  size_t positionals = 0;
  bool only_positionals = false;  // after "--"
};

CompletionLine read_line(std::span<const Option> options, std::span<const std::string> words) {
  CompletionLine line;
  for (const std::string& word : words) {
    if (line.open != nullptr) {
      line.open = nullptr;
    } else if (line.only_positionals || !word.starts_with('-') || word == "-") {
      ++line.positionals;
    } else if (word == "--") {
      line.only_positionals = true;
    } else if (const Option* option = find_option(options, word.substr(0, word.find('=')))) {
      line.given.push_back(option);
      if (takes_value(*option) && word.find('=') == word.npos) line.open = option;
    }
  }
  return line;
}

void add_arguments(const Command& command, std::span<const std::string> before,
                   std::string_view typed, Candidates& candidates) {
  const std::vector<Option> options = options_of(command);
  const CompletionLine line = read_line(options, before);
  if (line.open != nullptr) return add_values(*line.open, candidates);
  const size_t equals = typed.find('=');
  if (!line.only_positionals && typed.starts_with('-')) {
    if (equals == typed.npos) return add_options(options, line.given, candidates);
    const Option* option = find_option(options, typed.substr(0, equals));
    if (option == nullptr || !takes_value(*option)) return;
    candidates.begin_after(typed.substr(0, equals + 1));
    return add_values(*option, candidates);
  }
  const size_t most = command.positionals.size();
  const bool goes_on = most > 0 && command.positionals.back().several;
  if (line.positionals < most || goes_on) {
    const Positional& positional = command.positionals[std::min(line.positionals, most - 1)];
    candidates.add_all(positional.suggestions);
    if (positional.is_file) candidates.add_files();
  } else if (!line.only_positionals) {
    add_options(options, line.given, candidates);
  }
}

}  // namespace

std::string complete(std::span<const Command> commands, std::vector<std::string> words) {
  // bash makes three words of --view=ma.
  if (!words.empty() && words.back() == "=") words.emplace_back();
  std::erase(words, "=");
  if (words.empty()) words.emplace_back();
  const std::string typed = words.back();
  words.pop_back();
  Candidates candidates(typed);
  if (words.empty()) {
    add_verbs(commands, candidates);
    candidates.add("help", "explains a verb");
    candidates.add("--help", "lists the verbs");
    candidates.add("--version");
  } else if (words[0] == "help") {
    if (words.size() == 1) add_verbs(commands, candidates);
    candidates.add("--man", "as a manual page");
  } else {
    const auto command = std::ranges::find(commands, words[0], &Command::name);
    if (command != commands.end()) {
      add_arguments(*command, std::span(words).subspan(1), typed, candidates);
    }
  }
  return candidates.take();
}

}  // namespace fovea
