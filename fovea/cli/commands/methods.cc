#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fovea/base/json.h"
#include "fovea/cli/command.h"
#include "fovea/cli/draw/text.h"
#include "fovea/cli/method_options.h"
#include "fovea/cli/terminal.h"

namespace fovea {
namespace {

std::vector<std::string> needs_of(const Method& method) {
  std::vector<std::string> needs{"attention"};
  if (method.needs.block) needs.emplace_back("values and blocks");
  if (method.needs.gradient) {
    needs.emplace_back("gradients of the model");
  } else if (method.needs.subject) {
    needs.emplace_back("runs of the model");
  }
  if (method.needs.target) needs.emplace_back("an answer to ask about");
  if (method.needs.span) needs.emplace_back("a stretch of the input (--span)");
  return needs;
}

std::string indented(std::string_view text, int width, std::string_view indent) {
  std::string result(indent);
  for (const char letter : wrapped(text, width - static_cast<int>(indent.size()))) {
    result += letter;
    if (letter == '\n') result += indent;
  }
  return result + "\n";
}

std::string parameter_text(const MethodParameter& parameter) {
  const std::string values = parameter.choices.empty()
                                 ? fmt::format("{:g} to {:g}", parameter.least, parameter.most)
                                 : fmt::format("{}", fmt::join(parameter.choices, ", "));
  return fmt::format("--{}: {} ({}; otherwise {})", parameter.name, parameter.help, values,
                     parameter.otherwise);
}

std::string one_text(const Method& method, const Terminal& terminal) {
  const int width = std::min(terminal.width, 88);
  std::string text = terminal.bold(method.name) + "\n" + indented(method.summary, width, "  ");
  text += "\n" + indented(method.answers, width, "  ");
  text += fmt::format("\n  {}  {}\n  {}   {}\n", terminal.dim("needs"),
                      fmt::join(needs_of(method), ", "), terminal.dim("cost"), method.cost);
  for (const MethodParameter& parameter : method.parameters) {
    text += "\n" + indented(parameter_text(parameter), width, "  ");
  }
  return text;
}

std::string all_text(const Terminal& terminal) {
  std::string text;
  const int width = std::min(terminal.width, 88);
  for (const Method& method : all_methods()) {
    text += terminal.bold(method.name) + "\n" + indented(method.summary, width, "  ") +
            terminal.dim(
                indented(fmt::format("needs {}", fmt::join(needs_of(method), ", ")), width, "  "));
  }
  return text + terminal.dim("\n`fovea methods NAME` says what one answers and when it misleads\n");
}

Json method_json(const Method& method) {
  Json json = Json::object({{"name", method.name},
                            {"summary", method.summary},
                            {"answers", method.answers},
                            {"cost", method.cost},
                            {"needs", Json::array_of(needs_of(method))}});
  Json parameters = Json::array();
  for (const MethodParameter& parameter : method.parameters) {
    Json one = Json::object(
        {{"name", parameter.name}, {"help", parameter.help}, {"default", parameter.otherwise}});
    if (parameter.choices.empty()) {
      one.set("least", parameter.least);
      one.set("most", parameter.most);
    } else {
      one.set("choices", Json::array_of(parameter.choices));
    }
    parameters.push_back(std::move(one));
  }
  json.set("parameters", std::move(parameters));
  return json;
}

void run_methods(const Args& args) {
  const Terminal terminal = stdout_terminal();
  if (args.has("NAME")) {
    const Method method = method_named("NAME", args["NAME"]);
    write_stdout(args.flag("json") ? method_json(method).dump(1) + "\n"
                                   : one_text(method, terminal));
    return;
  }
  if (!args.flag("json")) {
    write_stdout(all_text(terminal));
    return;
  }
  Json json = Json::array();
  for (const Method& method : all_methods()) json.push_back(method_json(method));
  write_stdout(json.dump(1) + "\n");
}

}  // namespace

Command methods_command() {
  return {.name = "methods",
          .summary = "the methods of `fovea explain`: what each answers, needs and costs",
          .details =
              "examples:\n"
              "  fovea methods\n"
              "  fovea methods rollout\n",
          .positionals = {{.name = "NAME",
                           .help = "one of them",
                           .required = false,
                           .suggestions = method_names(),
                           .is_file = false}},
          .options = {Option::flag("json", "print it as JSON")},
          .run = run_methods};
}

}  // namespace fovea
