#include <fmt/ranges.h>

#include "fovea/ask/question_kind.h"
#include "fovea/ask/schema.h"
#include "fovea/base/utf8.h"
#include "fovea/cli/command.h"
#include "fovea/cli/draw/text.h"
#include "fovea/cli/help.h"
#include "fovea/cli/terminal.h"

namespace fovea {
namespace {

std::string joined_names(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

// A verb of the kind's own name has no other views.
std::string command_of(const QuestionKind& kind) {
  if (kind.counter != nullptr) {
    const std::string view = kind.view.empty() ? "" : " " + kind.view;
    return fmt::format("fovea {}{}, over many inputs", joined_names(kind.verbs), view);
  }
  if (kind.verbs.front() == kind.name) return "fovea " + kind.name;
  return fmt::format("fovea {} --view {}", joined_names(kind.verbs),
                     kind.view.empty() ? kind.name : kind.view);
}

std::string kind_text(const QuestionKind& kind, const Terminal& terminal) {
  std::vector<std::pair<std::string, std::string>> lines;
  for (const FieldInfo& field : kind.fields) {
    std::string help = field.help;
    if (!field.otherwise.empty()) help += fmt::format(" (otherwise: {})", field.otherwise);
    lines.emplace_back(field.name, help);
  }
  std::string text = terminal.bold(kind.name) + "\n  " + kind.summary + "\n";
  if (!kind.verbs.empty()) text += terminal.dim("  " + command_of(kind)) + "\n";
  return text + help_list(lines) + "\n";
}

void run_questions(const Args& args) {
  if (args.flag("json")) return write_stdout(question_schema().dump(1) + "\n");
  const Terminal terminal = stdout_terminal();
  std::string text;
  for (const QuestionKind& kind : all_question_kinds()) text += kind_text(kind, terminal);
  text.pop_back();
  write_stdout(text);
}

}  // namespace

Command questions_command() {
  return {.name = "questions",
          .summary = "what can be asked of a run, and the fields of each question",
          .details =
              "--json prints them as JSON Schema: what a question is as JSON, in URLs, in Python\n"
              "and in files (docs/answers.md).\n",
          .options = {Option::flag("json", "print the JSON Schema of every question")},
          .run = run_questions};
}

}  // namespace fovea
